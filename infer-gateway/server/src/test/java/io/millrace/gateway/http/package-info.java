@NullMarked
package io.millrace.gateway.http;

import org.jspecify.annotations.NullMarked;
