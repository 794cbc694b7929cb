package io.millrace.contract.fitted;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What stands for NULL (and for NaN in a floating column), before encoding and scaling.
 *
 * @param kind how the value was found; {@link Kind#NONE} leaves NaN, or no level
 * @param value of a numeric, date or timestamp column, in its feature unit; 0 otherwise
 * @param level of a text column; null otherwise
 * @param indicator whether one more feature says 1 where the value was NULL
 */
public record Imputer(Kind kind, double value, @Nullable String level, boolean indicator) {
    /** How the value was found. */
    public enum Kind {
        /** Nothing stands for NULL. */
        NONE,
        /** Mean of the values. */
        MEAN,
        /** Median of the values. */
        MEDIAN,
        /** The most frequent value, the smallest of several. */
        MOST_FREQUENT,
        /** Given by a person. */
        CONSTANT;

        /** Its name in JSON. */
        public String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** NULL stays missing. */
    public static Imputer none() {
        return new Imputer(Kind.NONE, 0, null, false);
    }

    /** A number stands for NULL. */
    public static Imputer of(Kind kind, double value) {
        return new Imputer(kind, value, null, false);
    }

    /** A level stands for NULL. */
    public static Imputer of(Kind kind, String level) {
        return new Imputer(kind, 0, level, false);
    }

    /** The same with one more feature that says where the value was NULL. */
    public Imputer withIndicator() {
        return new Imputer(kind, value, level, true);
    }
}
