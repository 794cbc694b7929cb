package io.millrace.lake.fit;

import io.millrace.contract.fitted.Imputer;
import io.millrace.contract.fitted.Scaler;
import org.jspecify.annotations.Nullable;

/**
 * How one column is to be prepared.
 *
 * @param impute what stands for NULL
 * @param constant of {@link Imputer.Kind#CONSTANT} for a column that is a number in the unit of features
 * @param constantLevel of {@link Imputer.Kind#CONSTANT} for a text column
 * @param indicator whether a feature says where the value was missing
 * @param encode how levels become numbers
 * @param scale how numbers are brought to one size
 * @param minFrequency a level that occurs less is rare: below 1 a fraction of the rows, from 1 a count
 * @param maxLevels most codes or features of levels, the shared one of rare levels among them
 */
record Options(
        Imputer.Kind impute,
        double constant,
        @Nullable String constantLevel,
        boolean indicator,
        Encode encode,
        Scaler.Kind scale,
        double minFrequency,
        int maxLevels) {
    /** Codes of an ordinal column by default: enough for trees, small enough for every model package. */
    static final int ORDINAL_LEVELS = 4_096;

    /** Features of a one-hot column by default. */
    static final int ONE_HOT_LEVELS = 100;

    /** Share of rows below which a level of a one-hot column is rare by default. */
    static final double ONE_HOT_FREQUENCY = 0.01;

    /** How levels become numbers. */
    enum Encode {
        NONE,
        ORDINAL,
        ONE_HOT
    }

    /** Trees: a missing number stays missing, a text becomes the index of its level. */
    static Options tree(boolean text) {
        return new Options(
                Imputer.Kind.NONE,
                0,
                null,
                false,
                text ? Encode.ORDINAL : Encode.NONE,
                Scaler.Kind.NONE,
                0,
                ORDINAL_LEVELS);
    }

    /** Linear, kernel, distance and neural models: numbers are filled and scaled, levels become features, rare ones share one. */
    static Options linear(boolean text) {
        return text
                ? new Options(
                        Imputer.Kind.NONE,
                        0,
                        null,
                        false,
                        Encode.ONE_HOT,
                        Scaler.Kind.NONE,
                        ONE_HOT_FREQUENCY,
                        ONE_HOT_LEVELS)
                : new Options(
                        Imputer.Kind.MEDIAN, 0, null, false, Encode.NONE, Scaler.Kind.STANDARD, 0, ORDINAL_LEVELS);
    }
}
