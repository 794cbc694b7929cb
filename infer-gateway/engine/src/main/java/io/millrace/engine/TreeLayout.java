package io.millrace.engine;

/**
 * The trees of a model as arrays. Every layout gives the same sums bit for bit: leaves are added in float32, in each output
 * in the order of its trees, as XGBoost adds them.
 *
 * <p>Threads: immutable, any number.
 */
sealed interface TreeLayout permits LinkedTrees, PerfectTrees {
    /**
     * Adds the leaves that the rows of a batch reach.
     *
     * @param features {@code rowCount x featureCount}, row-major; NaN is a missing value
     * @param rowCount {@code 0 <= rowCount}
     * @param out {@code rowCount x outputCount}, row-major
     */
    void addLeaves(float[] features, int rowCount, float[] out);

    /** Memory that the arrays hold; bytes. */
    long bytes();
}
