/**
 * What every Flink job of Millrace shares: where its settings are, how it reaches the database, and how a process that is
 * not Flink submits a job, follows it and ends it over the cluster's REST API. The REST client needs no Flink class, so a
 * supervisor stays a small JVM; every call and every wait has a bound.
 */
@NullMarked
package io.millrace.jobs;

import org.jspecify.annotations.NullMarked;
