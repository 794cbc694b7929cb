package io.millrace.gateway.core;

import io.millrace.contract.ColumnType;
import io.millrace.contract.Task;
import io.millrace.contract.fitted.Encoder;
import io.millrace.contract.fitted.FittedColumn;
import io.millrace.contract.fitted.FittedCounts;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.fitted.Imputer;
import io.millrace.contract.fitted.Scaler;
import io.millrace.contract.fitted.TargetMapping;
import java.util.List;

/** Regression models of one column around a scorer. */
public final class TestingServedModels {
    private TestingServedModels() {}

    /** A model of that key. */
    public static ServedModel regression(long key, TestingScorer scorer, long bytes, int queueRows) {
        FittedColumn column = new FittedColumn("x", ColumnType.FLOAT64, Imputer.none(), Encoder.none(), Scaler.none());
        FittedPreprocessing fitted = new FittedPreprocessing(
                List.of(column), TargetMapping.regression("y", ColumnType.FLOAT64), new FittedCounts(10, 0));
        return new ServedModel(key, key, "model-" + key, Task.REGRESSION, List.of(), fitted, scorer, bytes, queueRows);
    }
}
