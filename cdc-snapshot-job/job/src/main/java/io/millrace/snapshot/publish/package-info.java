/**
 * Answers snapshot requests: keeps each from the moment it is read in the log until the lake's commit that holds everything
 * before it is there, then tags that commit, fits the preprocessing and writes the result back. Every step may be repeated, so
 * a crash between two of them costs time only.
 */
@NullMarked
package io.millrace.snapshot.publish;

import org.jspecify.annotations.NullMarked;
