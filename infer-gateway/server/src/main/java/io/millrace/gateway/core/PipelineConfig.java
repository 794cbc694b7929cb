package io.millrace.gateway.core;

/**
 * Limits of the pipeline.
 *
 * @param workerCount threads that run long batches
 * @param batchRowsMax rows of one batch; a larger request is a batch of its own, scored in blocks of as many
 * @param inlineNanos longest batch that the submitting thread runs itself; 0 hands every batch to a worker
 */
public record PipelineConfig(int workerCount, int batchRowsMax, long inlineNanos) {}
