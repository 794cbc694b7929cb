package io.millrace.train.job;

import io.millrace.contract.Column;
import io.millrace.lake.LakeRow;
import io.millrace.train.matrix.KeyRank;
import io.millrace.train.matrix.Sampling;
import io.millrace.train.matrix.SplitSpec;
import java.util.List;

/** Stratum and rank of a row, decided the same way when rows are counted and when they are exported. */
final class RowPart {
    private RowPart() {}

    /** The stratum of a label: its class when there is one per class. */
    static int stratum(int strata, float label) {
        return strata == 1 ? 0 : (int) label;
    }

    /**
     * The rank of a row.
     *
     * @param keyColumn index of the key column in the row; used for {@link Sampling#LAST} alone
     */
    static long rank(SplitSpec split, List<Column> keys, LakeRow row, int keyColumn) {
        return split.sampling() == Sampling.LAST
                ? KeyRank.last(keys, row, keyColumn)
                : KeyRank.hashed(split.seed(), row.key());
    }
}
