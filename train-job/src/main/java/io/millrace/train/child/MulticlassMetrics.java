package io.millrace.train.child;

import java.util.LinkedHashMap;
import java.util.Map;

/** Metrics of a classification into more than two classes. */
final class MulticlassMetrics {
    private final ConfusionMatrix confusion;
    private long rows;
    private double logLoss;

    MulticlassMetrics(int classCount) {
        confusion = new ConfusionMatrix(classCount);
    }

    /**
     * Adds one row.
     *
     * @param actual class index
     * @param predicted class index
     * @param probabilityOfActual 0..1
     */
    void add(int actual, int predicted, float probabilityOfActual) {
        rows++;
        confusion.add(actual, predicted);
        logLoss -= LogLoss.logOfProbability(probabilityOfActual);
    }

    /** Name to value. */
    Map<String, Double> values() {
        Map<String, Double> values = new LinkedHashMap<>();
        values.put("f1", confusion.f1Macro());
        values.put("accuracy", confusion.accuracy());
        values.put("precision", confusion.precisionMacro());
        values.put("recall", confusion.recallMacro());
        values.put("mcc", confusion.mcc());
        values.put("log_loss", logLoss / rows);
        return values;
    }
}
