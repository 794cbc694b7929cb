package io.millrace.train.matrix;

import java.util.List;

/**
 * Which part of the split a row belongs to, decided by its stratum and rank alone, so that any number of exporters
 * agree without talking.
 *
 * @param strata bounds of each stratum: one stratum per class when stratified, else one in all
 */
public record SplitRule(List<Bounds> strata) {
    /**
     * Bounds of one stratum; ranks compare unsigned.
     *
     * @param test ranks below it are test rows
     * @param validation ranks from {@code test} to below it are validation rows
     * @param rows usable rows of the stratum
     */
    public record Bounds(long test, long validation, long rows) {}

    public SplitRule {
        strata = List.copyOf(strata);
    }

    /** The part of a row. */
    public Part part(int stratum, long rank) {
        Bounds bounds = strata.get(stratum);
        if (Long.compareUnsigned(rank, bounds.test()) < 0) {
            return Part.TEST;
        }
        return Long.compareUnsigned(rank, bounds.validation()) < 0 ? Part.VALIDATION : Part.TRAIN;
    }

    /** Usable rows: those with a label. */
    public long rows() {
        return strata.stream().mapToLong(Bounds::rows).sum();
    }
}
