package io.millrace.train.spec;

import org.jspecify.annotations.Nullable;

/**
 * One line of a child's progress.
 *
 * @param phase what it does now
 * @param round rounds finished; 0 before the first
 * @param rounds rounds asked for
 * @param metric name of the watched metric; null when the line carries none
 * @param trainValue the metric on the rows trained on; NaN when the line carries none
 * @param validationValue the metric on the validation rows; NaN when there are none
 * @param peakAnonymousBytes high-water mark of the child's anonymous memory
 * @param message reason of a failure; null otherwise
 * @param refused whether the failure would repeat, so that trying again is useless
 */
public record Progress(
        Phase phase,
        int round,
        int rounds,
        @Nullable String metric,
        double trainValue,
        double validationValue,
        long peakAnonymousBytes,
        @Nullable String message,
        boolean refused) {

    /** Tells progress lines from whatever else a library prints to standard output. */
    public static final String PREFIX = "millrace-progress ";

    /** Phases of a child, in order. */
    public enum Phase {
        LOADING,
        TRAINING,
        EVALUATING,
        PUBLISHING,
        DONE,
        FAILED
    }

    /** A line that only says where the child is. */
    public static Progress phase(Phase phase, int rounds, long peakAnonymousBytes) {
        return new Progress(phase, 0, rounds, null, Double.NaN, Double.NaN, peakAnonymousBytes, null, false);
    }

    /** A line about one finished round. */
    public static Progress round(
            int round, int rounds, String metric, double trainValue, double validationValue, long peakAnonymousBytes) {
        return new Progress(
                Phase.TRAINING, round, rounds, metric, trainValue, validationValue, peakAnonymousBytes, null, false);
    }

    /** The last line of a child that failed. */
    public static Progress failed(String message, boolean refused, long peakAnonymousBytes) {
        return new Progress(Phase.FAILED, 0, 0, null, Double.NaN, Double.NaN, peakAnonymousBytes, message, refused);
    }

    /** The line as printed. */
    public String line() {
        return PREFIX + SpecJson.line(this);
    }

    /** The progress a printed line carries, or null if it is some other output. */
    public static @Nullable Progress parse(String line) {
        return line.startsWith(PREFIX) ? SpecJson.parse(line.substring(PREFIX.length()), Progress.class) : null;
    }
}
