/**
 * Statistics of columns that merge: what is known of two sets of rows gives what is known of both. Everything here is deterministic:
 * the same values in the same order give the same numbers to the last bit, whatever the machine.
 */
@NullMarked
package io.millrace.lake.statistics;

import org.jspecify.annotations.NullMarked;
