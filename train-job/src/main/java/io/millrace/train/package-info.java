/**
 * Training: the run dispatcher, which claims queued runs from the database and follows their Flink jobs, and the job
 * itself, from the lake's rows to a published model.
 */
@NullMarked
package io.millrace.train;

import org.jspecify.annotations.NullMarked;
