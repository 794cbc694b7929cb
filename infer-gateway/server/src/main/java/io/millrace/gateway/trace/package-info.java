/** Spans of the requests that are traced, and their way to a collector. The only package that sees OpenTelemetry. */
@NullMarked
package io.millrace.gateway.trace;

import org.jspecify.annotations.NullMarked;
