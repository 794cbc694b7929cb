package io.millrace.gateway.core;

import io.millrace.contract.envelope.RequestLimits;

/**
 * Limits of the pipeline.
 *
 * @param workerCount threads that run long batches
 * @param batchRowsMax rows of one batch; a larger request is a batch of its own, scored in blocks of as many
 * @param inlineNanos longest batch that the submitting thread runs itself; 0 hands every batch to a worker
 * @param mergeWindowNanos how long requests for a model may wait for more of them while a batch of it runs, where their
 *     project does not say
 * @param limits of all requests together
 * @param queueFullWaits whether a request for which the queue has no room waits instead of being refused
 * @param waitingRowsMax rows that may wait for one limit, or for room in one queue
 */
public record PipelineConfig(
        int workerCount,
        int batchRowsMax,
        long inlineNanos,
        long mergeWindowNanos,
        RequestLimits limits,
        boolean queueFullWaits,
        int waitingRowsMax) {
    /** No merge window, no limits, and nobody waits for room. */
    public PipelineConfig(int workerCount, int batchRowsMax, long inlineNanos) {
        this(workerCount, batchRowsMax, inlineNanos, 0, RequestLimits.NONE, false, 1 << 16);
    }
}
