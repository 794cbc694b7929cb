package io.millrace.train.child;

import java.util.function.IntToDoubleFunction;

/**
 * Counts of (true class, predicted class) and the metrics that follow from them, as scikit-learn defines them.
 *
 * <p>Shape: {@code classCount x classCount}.
 */
final class ConfusionMatrix {
    private final int classCount;
    /** Doubles count exactly up to 2^53. */
    private final double[][] counts;

    private double rows;

    ConfusionMatrix(int classCount) {
        this.classCount = classCount;
        this.counts = new double[classCount][classCount];
    }

    void add(int actual, int predicted) {
        counts[actual][predicted]++;
        rows++;
    }

    double accuracy() {
        double correct = 0;
        for (int label = 0; label < classCount; label++) {
            correct += counts[label][label];
        }
        return ratio(correct, rows);
    }

    double precision(int label) {
        return ratio(counts[label][label], predicted(label));
    }

    double recall(int label) {
        return ratio(counts[label][label], actual(label));
    }

    double f1(int label) {
        return ratio(2.0 * counts[label][label], actual(label) + predicted(label));
    }

    /** Mean of the classes' f1 over the classes that occur, either truly or predicted. */
    double f1Macro() {
        return macro(this::f1);
    }

    double precisionMacro() {
        return macro(this::precision);
    }

    double recallMacro() {
        return macro(this::recall);
    }

    /** Matthews correlation coefficient, in its form for any number of classes; 0 where it is undefined. */
    double mcc() {
        double correct = 0;
        double actualTimesPredicted = 0;
        double actualSquares = 0;
        double predictedSquares = 0;
        for (int label = 0; label < classCount; label++) {
            double actual = actual(label);
            double predicted = predicted(label);
            correct += counts[label][label];
            actualTimesPredicted += actual * predicted;
            actualSquares += actual * actual;
            predictedSquares += predicted * predicted;
        }
        double spread = (rows * rows - predictedSquares) * (rows * rows - actualSquares);
        return ratio(correct * rows - actualTimesPredicted, Math.sqrt(spread));
    }

    private double macro(IntToDoubleFunction metric) {
        double sum = 0;
        int occurring = 0;
        for (int label = 0; label < classCount; label++) {
            if (actual(label) + predicted(label) > 0) {
                sum += metric.applyAsDouble(label);
                occurring++;
            }
        }
        return ratio(sum, occurring);
    }

    private double actual(int label) {
        double sum = 0;
        for (int predicted = 0; predicted < classCount; predicted++) {
            sum += counts[label][predicted];
        }
        return sum;
    }

    private double predicted(int label) {
        double sum = 0;
        for (int actual = 0; actual < classCount; actual++) {
            sum += counts[actual][label];
        }
        return sum;
    }

    private static double ratio(double numerator, double denominator) {
        return denominator == 0 ? 0 : numerator / denominator;
    }
}
