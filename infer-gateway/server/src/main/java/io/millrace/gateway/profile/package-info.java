/**
 * Continuous profiling: what the process has spent its time and memory on, for the last seconds, as a flame graph. Java is
 * seen by JFR, native memory by jemalloc where the process was started with it.
 */
@NullMarked
package io.millrace.gateway.profile;

import org.jspecify.annotations.NullMarked;
