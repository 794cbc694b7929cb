package io.millrace.contract.fitted;

import java.util.Arrays;
import java.util.List;

/** Values of some rows, column by column, for a model that takes its columns as they are. Reusable. Threads: one. */
public final class RawRows {
    private final List<RawColumn> columns;
    private final double[][] reals;
    private final long[][] integers;
    private final String[][] texts;

    /**
     * No rows yet.
     *
     * @param columns what the model takes
     */
    public RawRows(List<RawColumn> columns) {
        this.columns = List.copyOf(columns);
        reals = new double[columns.size()][0];
        integers = new long[columns.size()][0];
        texts = new String[columns.size()][0];
    }

    /** What the model takes. */
    public List<RawColumn> columns() {
        return columns;
    }

    /** Makes room for rows; those that are there stay. */
    public void ensure(int rowCount) {
        for (int column = 0; column < columns.size(); column++) {
            switch (columns.get(column).form()) {
                case REAL -> reals[column] = grown(reals[column], rowCount);
                case INTEGER -> integers[column] = grown(integers[column], rowCount);
                case TEXT -> texts[column] = grown(texts[column], rowCount);
            }
        }
    }

    private static double[] grown(double[] array, int length) {
        return array.length >= length ? array : Arrays.copyOf(array, Math.max(length, 2 * array.length));
    }

    private static long[] grown(long[] array, int length) {
        return array.length >= length ? array : Arrays.copyOf(array, Math.max(length, 2 * array.length));
    }

    private static String[] grown(String[] array, int length) {
        if (array.length >= length) {
            return array;
        }
        String[] longer = Arrays.copyOf(array, Math.max(length, 2 * array.length));
        Arrays.fill(longer, array.length, longer.length, "");
        return longer;
    }

    /** Value of a {@link RawColumn.Form#REAL} column. */
    public double real(int column, int row) {
        return reals[column][row];
    }

    /** Value of an {@link RawColumn.Form#INTEGER} column. */
    public long integer(int column, int row) {
        return integers[column][row];
    }

    /** Value of a {@link RawColumn.Form#TEXT} column. */
    public String text(int column, int row) {
        return texts[column][row];
    }

    /** Sets a value of a {@link RawColumn.Form#REAL} column. */
    public void real(int column, int row, double value) {
        reals[column][row] = value;
    }

    /** Sets a value of an {@link RawColumn.Form#INTEGER} column. */
    public void integer(int column, int row, long value) {
        integers[column][row] = value;
    }

    /** Sets a value of a {@link RawColumn.Form#TEXT} column. */
    public void text(int column, int row, String value) {
        texts[column][row] = value;
    }
}
