/**
 * Models from the store to readiness: fetched and verified, loaded, checked against their preprocessing, warmed, kept by
 * bytes, dropped when cold and freed when their last answer is out.
 */
@NullMarked
package io.millrace.gateway.model;

import org.jspecify.annotations.NullMarked;
