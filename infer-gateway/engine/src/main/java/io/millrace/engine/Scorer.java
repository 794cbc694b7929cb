package io.millrace.engine;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.fitted.RawColumn;
import io.millrace.contract.fitted.RawRows;
import java.util.List;

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
     * @param out receives the answers; NaN where the model has none
     * @throws ContractException {@link ErrorCode#WRONG_LENGTH} if an array is too short, {@link
     *     ErrorCode#SCORER_FAILED} if the native library refuses, {@link ErrorCode#UNSUPPORTED_KIND} if the model takes
     *     {@link #rawColumns}
     * @throws IllegalStateException if the scorer is closed
     */
    void score(float[] features, int rowCount, float[] out);

    /** The columns that the model takes as they are, instead of features; empty for a model that takes features. */
    default List<RawColumn> rawColumns() {
        return List.of();
    }

    /**
     * Scores a batch of a model with {@link #rawColumns}.
     *
     * @param rows of these columns
     * @param first the first row to score
     * @param rowCount {@code 0 <= rowCount}
     * @param out receives the answers, {@code rowCount x outputs()}, row-major
     * @throws ContractException as above; {@link ErrorCode#UNSUPPORTED_KIND} if the model takes features
     */
    default void score(RawRows rows, int first, int rowCount, float[] out) {
        throw new ContractException(
                ErrorCode.UNSUPPORTED_KIND, "model takes features, not columns as they are: width=" + width());
    }

    /**
     * Puts native state that a failed call may have broken aside for a fresh copy of it; calls in flight end first. A
     * model without such state, or one that was renewed a moment ago, is left as it is.
     *
     * @return whether it is fresh now
     */
    default boolean renew() {
        return false;
    }

    /** Refuses arrays that are too short for a batch. */
    static void checkLengths(Scorer scorer, float[] features, int rowCount, float[] out) {
        if (rowCount < 0
                || features.length < (long) rowCount * scorer.width()
                || out.length < (long) rowCount * scorer.outputs()) {
            throw new ContractException(
                    ErrorCode.WRONG_LENGTH,
                    "batch must fit its arrays: rows=" + rowCount + ", width=" + scorer.width() + ", features="
                            + features.length + ", outputs=" + scorer.outputs() + ", out=" + out.length);
        }
    }

    /** Memory the model holds, on the Java heap and in native memory; bytes, an estimate from above. */
    long residentBytes();

    @Override
    void close();
}
