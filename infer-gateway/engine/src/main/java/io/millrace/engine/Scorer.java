package io.millrace.engine;

/**
 * A loaded model that answers batches of rows.
 *
 * <p>Threads: any number may score at once; each call runs on its caller's thread alone. {@link #close} waits for the
 * calls in flight and is safe to repeat.
 */
public interface Scorer extends AutoCloseable {
    /** Features per row; {@code width >= 1}. */
    int width();

    /**
     * Values per row: 1 for regression (the value) and for two classes (the probability of the second label), the number
     * of classes for more (the probability of each, in label order).
     */
    int outputs();

    /**
     * Scores a batch.
     *
     * <p>Shape: {@code rowCount x width()} in, {@code rowCount x outputs()} out, both row-major.
     *
     * @param features the rows; NaN is a missing value
     * @param rowCount {@code 0 <= rowCount}; entries of either array beyond it are left alone
     * @param out receives the answers
     * @throws io.millrace.contract.ContractException {@link io.millrace.contract.ErrorCode#WRONG_LENGTH} if an array is
     *     too short, {@link io.millrace.contract.ErrorCode#SCORER_FAILED} if the native library refuses
     * @throws IllegalStateException if the scorer is closed
     */
    void score(float[] features, int rowCount, float[] out);

    /** Memory the model holds, on the Java heap and in native memory; bytes, an estimate from above. */
    long residentBytes();

    @Override
    void close();
}
