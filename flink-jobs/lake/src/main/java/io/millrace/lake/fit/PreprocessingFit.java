package io.millrace.lake.fit;

import com.fasterxml.jackson.databind.JsonNode;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Task;
import io.millrace.contract.fitted.FittedColumn;
import io.millrace.contract.fitted.FittedCounts;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.fitted.TargetMapping;
import io.millrace.lake.statistics.ColumnStatistics;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Fits a whole preprocessing from the statistics of its columns. */
public final class PreprocessingFit {
    private PreprocessingFit() {}

    /**
     * Checks {@code preprocess} without any statistics, so that a bad one is refused before rows are read.
     *
     * @param features names and types in the order of the table
     * @throws ContractException {@link ErrorCode#UNKNOWN_COLUMN} or {@link ErrorCode#INVALID_VALUE}, naming what is wrong and what is
     *     valid
     */
    public static void check(@Nullable JsonNode preprocess, Map<String, ColumnType> features) {
        OptionsParser.parse(preprocess, features);
    }

    /**
     * Fits.
     *
     * @param label name of the label column
     * @param features statistics by name, in the order of the table
     * @throws ContractException {@link ErrorCode#NO_ROWS} if there is no row, {@link ErrorCode#INVALID_LABEL} if nothing can be learnt
     *     from the label, {@link ErrorCode#INVALID_VALUE} if an option does not fit the values or no feature is left
     */
    public static FittedPreprocessing fit(
            String label,
            ColumnStatistics labelStatistics,
            Map<String, ColumnStatistics> features,
            @Nullable Task task,
            @Nullable JsonNode preprocess) {
        if (labelStatistics.rows() == 0) {
            throw new ContractException(ErrorCode.NO_ROWS, "snapshot has no rows: label=" + label);
        }
        TargetMapping target = TargetFit.fit(label, labelStatistics, task);
        Map<String, ColumnType> types = new LinkedHashMap<>();
        features.forEach((name, statistics) -> types.put(name, statistics.type()));
        Map<String, Options> options = OptionsParser.parse(preprocess, types);
        List<FittedColumn> columns = new ArrayList<>();
        int width = 0;
        for (Map.Entry<String, ColumnStatistics> feature : features.entrySet()) {
            String name = feature.getKey();
            Options chosen = Objects.requireNonNull(options.get(name), name);
            FittedColumn fitted = ColumnFit.fit(name, feature.getValue(), chosen);
            width += fitted.width();
            columns.add(fitted);
        }
        if (width == 0) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE, "no feature has a value: label=" + label + ", columns=" + columns.size());
        }
        FittedCounts counts =
                new FittedCounts(labelStatistics.rows(), TargetFit.unusableRows(labelStatistics, target.task()));
        return new FittedPreprocessing(columns, target, counts);
    }
}
