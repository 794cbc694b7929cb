package io.millrace.lake.fit;

import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Task;
import io.millrace.contract.fitted.TargetMapping;
import io.millrace.lake.statistics.ColumnStatistics;
import io.millrace.lake.statistics.TextCounts;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Fits the label: which classes it has, or that its numbers are what is predicted. */
final class TargetFit {
    /** Most classes of a classification. */
    static final int CLASSES_MAX = 1_000;

    /** Most distinct integers that are taken for classes when no task is given. */
    static final int INFERRED_CLASSES_MAX = 20;

    private TargetFit() {}

    /**
     * Fits the label.
     *
     * @param task null to infer it: text and boolean are classes, integers are when they are few, other numbers are values
     * @throws ContractException {@link ErrorCode#INVALID_LABEL} if nothing can be learnt from the label
     */
    static TargetMapping fit(String column, ColumnStatistics statistics, @Nullable Task task) {
        ColumnType type = statistics.type();
        if (type == ColumnType.DATE || type == ColumnType.TIMESTAMP) {
            throw invalid("label cannot be a date or a timestamp: column=" + column + ", type=" + type.text());
        }
        if (statistics.nulls() == statistics.rows()) {
            throw invalid("label is NULL in every row: column=" + column + ", rows=" + statistics.rows());
        }
        Task effective = task == null ? infer(statistics) : task;
        return effective == Task.CLASSIFICATION ? classification(column, statistics) : regression(column, statistics);
    }

    /** Rows that cannot be learnt from. */
    static long unusableRows(ColumnStatistics statistics, Task task) {
        return statistics.nulls() + (task == Task.REGRESSION ? statistics.nans() + statistics.infinities() : 0);
    }

    private static Task infer(ColumnStatistics statistics) {
        return switch (statistics.type()) {
            case TEXT, BOOLEAN -> Task.CLASSIFICATION;
            case INT64 ->
                statistics.numbers().isExact() && statistics.numbers().distinct() <= INFERRED_CLASSES_MAX
                        ? Task.CLASSIFICATION
                        : Task.REGRESSION;
            default -> Task.REGRESSION;
        };
    }

    private static TargetMapping regression(String column, ColumnStatistics statistics) {
        if (statistics.type() == ColumnType.TEXT) {
            throw invalid("label of a regression must be a number: column=" + column + ", type="
                    + statistics.type().text());
        }
        if (statistics.moments().count() == 0) {
            throw invalid("label is a finite number in no row: column=" + column + ", rows=" + statistics.rows());
        }
        return TargetMapping.regression(column, statistics.type());
    }

    private static TargetMapping classification(String column, ColumnStatistics statistics) {
        boolean text = statistics.type() == ColumnType.TEXT;
        boolean exact = text
                ? statistics.texts().isExact() && statistics.texts().longTexts() == 0
                : statistics.numbers().isExact();
        if (!exact || statistics.distinct() > CLASSES_MAX) {
            throw invalid("label has too many classes: column=" + column + ", classes=" + statistics.distinct()
                    + ", max=" + CLASSES_MAX);
        }
        if (statistics.nans() + statistics.infinities() > 0) {
            throw invalid("label of a classification must be finite: column=" + column + ", rows="
                    + (statistics.nans() + statistics.infinities()));
        }
        if (statistics.distinct() < 2) {
            throw invalid("label must have two or more classes: column=" + column + ", classes=" + statistics.distinct()
                    + ", rows=" + statistics.rows());
        }
        List<String> labels = new ArrayList<>();
        if (text) {
            for (TextCounts.Level level : statistics.texts().levels()) {
                labels.add(level.text());
            }
        } else {
            for (double value : statistics.numbers().values()) {
                labels.add(LevelChoice.text(statistics.type(), value));
            }
        }
        return TargetMapping.classification(column, statistics.type(), labels);
    }

    private static ContractException invalid(String message) {
        return new ContractException(ErrorCode.INVALID_LABEL, message);
    }
}
