/**
 * The lake: Iceberg tables that mirror captured source tables, the snapshots people train on, the statistics of their columns and
 * the preprocessing fitted from them. Free of Flink, so that a streaming operator, a bounded job and a test use the same code.
 */
@NullMarked
package io.millrace.lake;

import org.jspecify.annotations.NullMarked;
