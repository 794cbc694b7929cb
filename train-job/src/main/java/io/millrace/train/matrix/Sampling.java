package io.millrace.train.matrix;

import io.millrace.train.spec.RunRefusedException;
import java.util.Locale;

/** How test rows are chosen. */
public enum Sampling {
    /** Each class gives its exact share, its rows in the order of their keys' hashes. */
    STRATIFIED,
    /** An exact share of all rows, in the order of their keys' hashes. */
    RANDOM,
    /** The rows with the largest keys. */
    LAST;

    /** The name as stored in {@code ml.runs.test_sampling}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The sampling of this name.
     *
     * @throws RunRefusedException if there is none
     */
    public static Sampling of(String label) {
        for (Sampling sampling : values()) {
            if (sampling.label().equals(label)) {
                return sampling;
            }
        }
        throw new RunRefusedException("test sampling must be stratified, random or last: sampling=" + label);
    }
}
