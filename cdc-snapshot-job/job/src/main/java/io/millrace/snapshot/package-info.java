/**
 * The change stream: one Flink job reads every captured table from the write-ahead log and writes each into its lake table,
 * and the supervisor that keeps this job running with the right list of tables. Snapshot requests are rows of the same log,
 * so a request is past exactly when everything committed before it is.
 */
@NullMarked
package io.millrace.snapshot;

import org.jspecify.annotations.NullMarked;
