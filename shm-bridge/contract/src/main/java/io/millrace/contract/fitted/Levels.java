package io.millrace.contract.fitted;

import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.TextLevels;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Levels of a column that is not text, as numbers that can be looked up without allocation. */
final class Levels {
    private final double[] sorted;
    private final int[] indexes;

    private Levels(double[] sorted, int[] indexes) {
        this.sorted = sorted;
        this.indexes = indexes;
    }

    /**
     * The levels of a boolean, integer or floating column.
     *
     * @param levels texts that {@link #check} accepted
     */
    static Levels of(ColumnType type, List<String> levels) {
        double[] values = new double[levels.size()];
        for (int index = 0; index < values.length; index++) {
            values[index] = number(type, levels.get(index));
        }
        Integer[] order = new Integer[values.length];
        Arrays.setAll(order, index -> index);
        Arrays.sort(order, (left, right) -> Double.compare(values[left], values[right]));
        double[] sorted = new double[values.length];
        int[] indexes = new int[values.length];
        for (int rank = 0; rank < sorted.length; rank++) {
            indexes[rank] = order[rank];
            sorted[rank] = values[order[rank]];
        }
        return new Levels(sorted, indexes);
    }

    /** Index of a value among the levels; -1 when it is none of them. */
    int indexOf(double value) {
        // Adding 0 makes -0.0 the 0.0 it equals.
        int rank = Arrays.binarySearch(sorted, value + 0.0);
        return rank < 0 ? -1 : indexes[rank];
    }

    /**
     * Checks that texts are distinct values of a type.
     *
     * @throws ContractException {@link ErrorCode#CORRUPT_FITTED} if not, naming the column
     */
    static void check(String name, ColumnType type, List<String> levels) {
        boolean distinct;
        if (type == ColumnType.TEXT) {
            distinct = TextLevels.areDistinct(levels);
        } else {
            Set<Double> numbers = new HashSet<>();
            for (String level : levels) {
                numbers.add(checkedNumber(name, type, level));
            }
            distinct = numbers.size() == levels.size();
        }
        if (!distinct) {
            throw new ContractException(
                    ErrorCode.CORRUPT_FITTED,
                    "fitted levels must be distinct: column=" + name + ", count=" + levels.size());
        }
    }

    private static double checkedNumber(String name, ColumnType type, String level) {
        try {
            double number = number(type, level);
            if (Double.isFinite(number) && text(type, number).equals(level)) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // Said below.
        }
        throw new ContractException(
                ErrorCode.CORRUPT_FITTED,
                "fitted level is not of the column's type: column=" + name + ", type=" + type.text());
    }

    private static double number(ColumnType type, String level) {
        return switch (type) {
            case BOOLEAN -> level.equals("true") ? 1 : level.equals("false") ? 0 : Double.NaN;
            case INT64 -> Long.parseLong(level);
            case FLOAT64 -> Double.parseDouble(level) + 0.0;
            case TEXT, DATE, TIMESTAMP -> Double.NaN;
        };
    }

    /** The text of a value as a level: the only one that {@link #check} accepts. */
    static String text(ColumnType type, double value) {
        if (type == ColumnType.BOOLEAN) {
            return value == 0 ? "false" : "true";
        }
        long whole = (long) value;
        return whole == value ? Long.toString(whole) : Double.toString(value);
    }
}
