package io.millrace.train.child;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Metrics of a classification into two classes; the second class is the positive one. Definitions equal scikit-learn's
 * (threshold 0.5, probabilities clipped to float32's epsilon in log_loss, a ratio without a denominator is 0). f1,
 * precision and recall are means over the classes, as they are with more than two; {@code _positive} are the second
 * class's.
 *
 * <p>Memory: 8 bytes per row, for the area under the curve.
 */
final class BinaryMetrics {
    private static final int INITIAL_ROWS = 1024;

    /** Score bits above the label, so that one sort of longs orders rows by score. */
    private long[] ranked = new long[INITIAL_ROWS];

    private final ConfusionMatrix confusion = new ConfusionMatrix(2);
    private int rows;
    private double logLoss;

    /**
     * Adds one row.
     *
     * @param positive whether the row belongs to the positive class
     * @param probability of the positive class, 0..1
     */
    void add(boolean positive, float probability) {
        if (rows == ranked.length) {
            ranked = Arrays.copyOf(ranked, ranked.length + (ranked.length >> 1));
        }
        // Bits of non-negative floats are ordered like the floats themselves.
        ranked[rows++] = ((long) Float.floatToIntBits(Math.max(probability, 0f)) << 1) | (positive ? 1 : 0);
        confusion.add(positive ? 1 : 0, isPositive(probability) ? 1 : 0);
        logLoss -= LogLoss.logOfProbability(positive ? probability : 1.0 - probability);
    }

    /** Whether a row with this probability is taken for the positive class. */
    static boolean isPositive(float probability) {
        return probability > 0.5f;
    }

    /** Name to value; a metric that the rows do not define is absent. */
    Map<String, Double> values() {
        Map<String, Double> values = new LinkedHashMap<>();
        double area = areaUnderCurve();
        if (!Double.isNaN(area)) {
            values.put("auc", area);
        }
        values.put("accuracy", confusion.accuracy());
        values.put("f1", confusion.f1Macro());
        values.put("precision", confusion.precisionMacro());
        values.put("recall", confusion.recallMacro());
        values.put("f1_positive", confusion.f1(1));
        values.put("precision_positive", confusion.precision(1));
        values.put("recall_positive", confusion.recall(1));
        values.put("mcc", confusion.mcc());
        values.put("log_loss", logLoss / rows);
        return values;
    }

    /** Probability that a positive row scores above a negative one, ties counted half; NaN with one class only. */
    private double areaUnderCurve() {
        Arrays.sort(ranked, 0, rows);
        double negativesBelow = 0;
        double positives = 0;
        double wins = 0;
        int row = 0;
        while (row < rows) {
            long score = ranked[row] >>> 1;
            long tiedPositives = 0;
            long tied = 0;
            for (; row < rows && ranked[row] >>> 1 == score; row++, tied++) {
                tiedPositives += ranked[row] & 1;
            }
            wins += tiedPositives * (negativesBelow + (tied - tiedPositives) / 2.0);
            negativesBelow += tied - tiedPositives;
            positives += tiedPositives;
        }
        return positives == 0 || negativesBelow == 0 ? Double.NaN : wins / (positives * negativesBelow);
    }
}
