package io.millrace.gateway.core;

/*
 * Where a batch runs depends on how long it will take: a short one costs less than waking another thread, a long one
 * must not keep the dispatcher from its callers. The time of a batch is not proportional to its rows, so it is remembered
 * by power of two; sizes never seen are scaled from the nearest smaller one, or the nearest larger one.
 *
 * Threads race without locks: a lost update is one sample less.
 */
/** Expected duration of a model's batches by number of rows; moving averages. Threads: any. */
public final class BatchCost {
    private static final int SIZE_COUNT = 21;
    private static final int WEIGHT_SHIFT = 3;

    private final long[] nanos = new long[SIZE_COUNT];

    /** Learns from a batch that ran. */
    public void record(int rowCount, long durationNanos) {
        int size = size(rowCount);
        // Scaled to the bucket's size, so that 9 rows and 15 rows do not pull at each other.
        long scaled = Math.max(1, (long) ((double) durationNanos * (1 << size) / rowCount));
        long old = nanos[size];
        nanos[size] = old == 0 ? scaled : old + ((scaled - old) >> WEIGHT_SHIFT);
    }

    /**
     * Predicts a batch.
     *
     * @return nanoseconds; {@link Long#MAX_VALUE} when nothing was ever recorded
     */
    public long expectedNanos(int rowCount) {
        int size = size(rowCount);
        for (int distance = 0; distance < SIZE_COUNT; distance++) {
            int nearest = size - distance;
            if (nearest >= 0 && nanos[nearest] != 0) {
                return scale(nearest, rowCount);
            }
        }
        for (int larger = size + 1; larger < SIZE_COUNT; larger++) {
            if (nanos[larger] != 0) {
                return nanos[larger];
            }
        }
        return Long.MAX_VALUE;
    }

    private long scale(int size, int rowCount) {
        return (long) ((double) nanos[size] * rowCount / (1 << size));
    }

    private static int size(int rowCount) {
        return Math.min(SIZE_COUNT - 1, 31 - Integer.numberOfLeadingZeros(Math.max(1, rowCount)));
    }
}
