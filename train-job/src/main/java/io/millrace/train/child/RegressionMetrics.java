package io.millrace.train.child;

import java.util.LinkedHashMap;
import java.util.Map;

/** Metrics of a regression, in one pass. */
final class RegressionMetrics {
    private long rows;
    private double mean;
    private double squaresAboutMean;
    private double squaredErrors;
    private double absoluteErrors;

    /** Adds one row. */
    void add(double actual, double predicted) {
        rows++;
        double fromMean = actual - mean;
        mean += fromMean / rows;
        squaresAboutMean += fromMean * (actual - mean);
        double error = actual - predicted;
        squaredErrors += error * error;
        absoluteErrors += Math.abs(error);
    }

    /** Name to value; r2 is absent when all rows have one value. */
    Map<String, Double> values() {
        Map<String, Double> values = new LinkedHashMap<>();
        if (squaresAboutMean > 0) {
            values.put("r2", 1 - squaredErrors / squaresAboutMean);
        }
        values.put("mae", absoluteErrors / rows);
        values.put("rmse", Math.sqrt(squaredErrors / rows));
        return values;
    }
}
