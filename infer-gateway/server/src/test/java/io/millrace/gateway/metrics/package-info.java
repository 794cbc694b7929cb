@NullMarked
package io.millrace.gateway.metrics;

import org.jspecify.annotations.NullMarked;
