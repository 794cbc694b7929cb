/**
 * The run dispatcher: claims queued runs under a lease, submits and follows their Flink jobs, and records what became of
 * them. The database is the only authority; a dispatcher can die at any point and another one goes on from the row.
 */
@NullMarked
package io.millrace.train.dispatch;

import org.jspecify.annotations.NullMarked;
