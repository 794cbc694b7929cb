package io.millrace.contract.fitted;

import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.RowReader;
import io.millrace.contract.Task;
import io.millrace.contract.TextLevels;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The label column: how its values become what a model learns, and a class becomes text again.
 *
 * <p>Labels of a classification are texts in order: text by code points, {@code false} before {@code true}, numbers by
 * value. The last of two is the positive one. Immutable; any thread.
 */
public final class TargetMapping {
    private final String column;
    private final Task task;
    private final ColumnType type;
    private final List<String> labels;
    private final TextLevels textLevels;
    private final Levels numberLevels;

    /**
     * A mapping with its labels in order.
     *
     * @param column name of the label column
     * @param task of the project
     * @param type of the label column; not date or timestamp
     * @param labels two or more distinct ones for classification, none for regression
     * @throws ContractException {@link ErrorCode#INVALID_LABEL} if type or labels do not fit the task
     */
    public TargetMapping(String column, Task task, ColumnType type, List<String> labels) {
        boolean fits = task == Task.CLASSIFICATION
                ? type == ColumnType.TEXT || type.isNumeric()
                : type.isNumeric() && labels.isEmpty();
        if (!fits) {
            throw new ContractException(
                    ErrorCode.INVALID_LABEL,
                    "label type does not fit the task: column=" + column + ", type=" + type.text() + ", task="
                            + task.text());
        }
        if (task == Task.CLASSIFICATION && labels.size() < 2) {
            throw new ContractException(
                    ErrorCode.INVALID_LABEL,
                    "label must have two or more classes: column=" + column + ", classes=" + labels.size());
        }
        Levels.check(column, type, labels);
        this.column = column;
        this.task = task;
        this.type = type;
        this.labels = List.copyOf(labels);
        textLevels = new TextLevels(type == ColumnType.TEXT ? this.labels : List.of());
        numberLevels = Levels.of(type, type == ColumnType.TEXT ? List.of() : this.labels);
    }

    /** A mapping of the labels that occur, put in order. Labels are texts as {@link #labelText} makes them. */
    public static TargetMapping classification(String column, ColumnType type, Collection<String> occurring) {
        List<String> labels = new ArrayList<>(occurring);
        labels.sort(
                type.isNumeric() && type != ColumnType.BOOLEAN
                        ? Comparator.comparingDouble(Double::parseDouble)
                        : TextLevels.ORDER);
        return new TargetMapping(column, Task.CLASSIFICATION, type, labels);
    }

    /** A mapping of numbers to themselves. */
    public static TargetMapping regression(String column, ColumnType type) {
        return new TargetMapping(column, Task.REGRESSION, type, List.of());
    }

    /** A label that is not NULL as text: {@code true}, {@code 3}, {@code 2.5}, or the text itself. */
    public static String labelText(RowReader row, int index, ColumnType type) {
        return switch (type) {
            case TEXT -> row.text(index);
            case BOOLEAN -> Boolean.toString(row.booleanValue(index));
            case INT64 -> Long.toString(row.int64(index));
            case FLOAT64 -> Levels.text(type, row.float64(index));
            case DATE, TIMESTAMP ->
                throw new ContractException(
                        ErrorCode.INVALID_LABEL, "label cannot be a date or a timestamp: type=" + type.text());
        };
    }

    /**
     * The number a model learns: the class index, or the value.
     *
     * @param row whose column {@code index} is the label
     * @param index of the label column in the row
     * @return NaN when the label is NULL, or not a finite number in a regression: the row cannot be used
     * @throws ContractException {@link ErrorCode#INVALID_LABEL} if the label is none of the classes
     */
    public float encode(RowReader row, int index) {
        if (row.isNull(index)) {
            return Float.NaN;
        }
        if (task == Task.REGRESSION) {
            float value = (float) number(row, index);
            return Float.isFinite(value) ? value : Float.NaN;
        }
        int label = type == ColumnType.TEXT ? row.level(index, textLevels) : numberLevels.indexOf(number(row, index));
        if (label < 0) {
            throw new ContractException(
                    ErrorCode.INVALID_LABEL,
                    "label is none of the classes: column=" + column + ", classes=" + labels.size());
        }
        return label;
    }

    private double number(RowReader row, int index) {
        return switch (type) {
            case BOOLEAN -> row.booleanValue(index) ? 1 : 0;
            case INT64 -> row.int64(index);
            case FLOAT64 -> row.float64(index);
            case TEXT, DATE, TIMESTAMP -> throw new AssertionError(type);
        };
    }

    /** Name of the label column. */
    public String column() {
        return column;
    }

    /** Task of the project. */
    public Task task() {
        return task;
    }

    /** Type of the label column. */
    public ColumnType type() {
        return type;
    }

    /** The classes in order; empty for regression. */
    public List<String> labels() {
        return labels;
    }

    /** How many classes; 0 for regression. */
    public int classCount() {
        return labels.size();
    }

    /**
     * The label of a class.
     *
     * @param classIndex {@code 0 <= classIndex < classCount()}
     */
    public String label(int classIndex) {
        return labels.get(classIndex);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof TargetMapping that
                && that.column.equals(column)
                && that.task == task
                && that.type == type
                && that.labels.equals(labels);
    }

    @Override
    public int hashCode() {
        return Objects.hash(column, task, type, labels);
    }

    @Override
    public String toString() {
        return "TargetMapping[column=" + column + ", task=" + task + ", type=" + type + ", classes=" + labels.size()
                + "]";
    }
}
