package io.millrace.contract;

/**
 * The values of one row, by position; the row may be a view that moves. The typed call must match the column's type.
 *
 * <p>Threads: one.
 */
public interface RowReader {
    /** Whether a column is NULL; the other calls are meaningful only when it is not. */
    boolean isNull(int column);

    /** Value of a {@link ColumnType#BOOLEAN} column. */
    boolean booleanValue(int column);

    /**
     * Value of an {@link ColumnType#INT64} column; of a {@link ColumnType#DATE} in days, of a {@link
     * ColumnType#TIMESTAMP} in microseconds, both from 1970-01-01 UTC.
     */
    long int64(int column);

    /** Value of a {@link ColumnType#FLOAT64} column. */
    double float64(int column);

    /** Value of a {@link ColumnType#TEXT} column. */
    String text(int column);

    /**
     * Position of a {@link ColumnType#TEXT} value in a list of levels; -1 when it is not in the list. A reader over
     * UTF-8 bytes answers without making a String.
     */
    default int level(int column, TextLevels levels) {
        return levels.indexOf(text(column));
    }
}
