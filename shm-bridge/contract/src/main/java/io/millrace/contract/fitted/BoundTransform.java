package io.millrace.contract.fitted;

import io.millrace.contract.RowReader;
import java.util.concurrent.atomic.LongAdder;

/**
 * A fitted preprocessing bound to the columns of a source. {@link #apply} allocates nothing for columns that are
 * numbers, and nothing for text from a reader over UTF-8 bytes. Immutable but for its count; any thread.
 */
public final class BoundTransform {
    private final ColumnTransform[] transforms;
    private final int width;
    private final LongAdder unseen;

    BoundTransform(ColumnTransform[] transforms, int width, LongAdder unseen) {
        this.transforms = transforms;
        this.width = width;
        this.unseen = unseen;
    }

    /** Features of one row. */
    public int width() {
        return width;
    }

    /**
     * Writes the vector of a row: float32, NaN where a value is missing.
     *
     * @param row of the bound source
     * @param out takes {@link #width} values
     * @param offset of the first of them
     * @throws io.millrace.contract.ContractException {@link io.millrace.contract.ErrorCode#WRONG_TYPE} if a text that
     *     is not NULL stands for a number, {@link io.millrace.contract.ErrorCode#INVALID_VALUE} if one is no date;
     *     both name the column
     */
    public void apply(RowReader row, float[] out, int offset) {
        for (ColumnTransform transform : transforms) {
            transform.apply(row, out, offset);
        }
    }

    /** Values so far that were none of their column's levels. */
    public long unseenCount() {
        return unseen.sum();
    }
}
