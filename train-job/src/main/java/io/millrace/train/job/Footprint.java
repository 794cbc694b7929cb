package io.millrace.train.job;

/** What a training needs, from its numbers of rows and features: estimates from above, tested by measuring. */
final class Footprint {
    /** Label, key text and its offset. */
    private static final long BYTES_PER_ROW = 48;
    /** A float32, and its bin in the library's cache: 2.2 bytes dense, up to 5 with missing values. */
    private static final long BYTES_PER_VALUE = 4 + 5;
    /** JVM, native library, one block of rows and its sketches. */
    private static final long MEMORY_BASE_BYTES = 160L << 20;
    /** Gradients, predictions and partitions of one row. */
    private static final long MEMORY_BYTES_PER_ROW = 49;

    private Footprint() {}

    /** Disk space of the matrix and the library's cache; bytes. */
    static long diskBytes(long rows, int width) {
        return rows * (BYTES_PER_ROW + width * BYTES_PER_VALUE);
    }

    /**
     * Anonymous memory of the child; bytes.
     *
     * @param rows trained on
     * @param outputs models boosted at once: classes of a multiclass run, else 1
     */
    static long memoryBytes(long rows, int outputs) {
        return MEMORY_BASE_BYTES + rows * (MEMORY_BYTES_PER_ROW + (outputs - 1) * 12L);
    }
}
