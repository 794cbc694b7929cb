package io.millrace.snapshot.publish;

/**
 * Names a commit of the change job in a lake table: the checkpoint whose files it adds. The sink writes both into the commit's
 * summary.
 *
 * @param jobId the Flink job that took the checkpoint, 32 hexadecimal digits
 * @param checkpointId the checkpoint, increasing over restarts from one another
 */
record CommitMark(String jobId, long checkpointId) {}
