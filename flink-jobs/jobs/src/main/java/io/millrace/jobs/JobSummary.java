package io.millrace.jobs;

/** One line of the cluster's job list. Start time in milliseconds since 1970-01-01 UTC. */
public record JobSummary(String jobId, String name, JobState state, long startMillis) {}
