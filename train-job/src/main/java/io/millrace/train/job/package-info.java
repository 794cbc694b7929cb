/**
 * The bounded Flink job of one run: choose test rows, export the matrix, train in a child JVM. Every function checks for
 * interruption at least every few thousand rows, so a cancelled job ends at once and takes its child with it.
 */
@NullMarked
package io.millrace.train.job;

import org.jspecify.annotations.NullMarked;
