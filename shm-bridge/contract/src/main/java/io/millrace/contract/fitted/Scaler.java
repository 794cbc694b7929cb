package io.millrace.contract.fitted;

import java.util.Locale;

/**
 * A shift and a stretch: {@code (value - center) / scale}, in float64. Fitting puts 1 for a scale of 0, as scikit-learn
 * does, so a constant column gives 0.
 *
 * @param kind how the two were found
 * @param center finite
 * @param scale finite, not 0
 */
public record Scaler(Kind kind, double center, double scale) {
    /** How center and scale were found. */
    public enum Kind {
        /** The value stays. */
        NONE,
        /** Mean and population standard deviation. */
        STANDARD,
        /** Minimum and range. */
        MIN_MAX,
        /** Zero and the largest absolute value. */
        MAX_ABS,
        /** Median and the distance of the quartiles. */
        ROBUST;

        /** Its name in JSON. */
        public String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** The value stays. */
    public static Scaler none() {
        return new Scaler(Kind.NONE, 0, 1);
    }

    /** The scaled value; NaN stays NaN. */
    public double apply(double value) {
        return (value - center) / scale;
    }
}
