package io.millrace.gateway.core;

/** What a batch took so far; its requests refer to it until they end. Threads: one. */
final class BatchTimes {
    private long startNanos;
    private long transformNanos;
    private long scoreNanos;
    private int rowCount;

    /** A batch begins; of the pipeline's clock. */
    void begin(long newStartNanos, int newRowCount) {
        startNanos = newStartNanos;
        rowCount = newRowCount;
        transformNanos = 0;
        scoreNanos = 0;
    }

    /** A block of its rows was scored. */
    void scored(long blockTransformNanos, long blockScoreNanos) {
        transformNanos += blockTransformNanos;
        scoreNanos += blockScoreNanos;
    }

    long startNanos() {
        return startNanos;
    }

    /** Of all blocks. */
    long transformNanos() {
        return transformNanos;
    }

    /** Of all blocks. */
    long scoreNanos() {
        return scoreNanos;
    }

    int rowCount() {
        return rowCount;
    }
}
