package io.millrace.lake;

import io.millrace.contract.ColumnType;
import io.millrace.contract.RowReader;
import io.millrace.lake.column.ColumnVector;
import io.millrace.lake.column.LiveRows;
import java.util.List;

/**
 * One row of a snapshot, by the index of the columns that were asked for. It is a view that the next row moves: copy what must last.
 *
 * <p>Values are those the database sends for the same row: numeric as double, dates in days, timestamps in microseconds.
 */
public final class LakeRow implements RowReader {
    private final ColumnVector[] columns;
    private final ColumnVector[] keys;
    private int row;

    LakeRow(LiveRows rows, int columnCount, int keyCount) {
        columns = new ColumnVector[columnCount];
        for (int i = 0; i < columnCount; i++) {
            columns[i] = rows.column(i);
        }
        keys = new ColumnVector[keyCount];
        for (int i = 0; i < keyCount; i++) {
            keys[i] = rows.column(columnCount + i);
        }
    }

    LakeRow moveTo(int newRow) {
        row = newRow;
        return this;
    }

    @Override
    public boolean isNull(int column) {
        return columns[column].isNull(row);
    }

    @Override
    public boolean booleanValue(int column) {
        return columns[column].integer(row) != 0;
    }

    @Override
    public long int64(int column) {
        return columns[column].integer(row);
    }

    @Override
    public double float64(int column) {
        return columns[column].floating(row);
    }

    @Override
    public String text(int column) {
        return columns[column].text(row);
    }

    /** Type of a column's values. */
    public ColumnType type(int column) {
        return columns[column].type();
    }

    /**
     * The row's primary key as PostgreSQL prints it: {@code key::text} of one column, {@code ROW(a, b)::text} of several, in the
     * order of the table's columns; timestamps with time zone in UTC.
     */
    public String key() {
        return keys.length == 1 ? PostgresText.of(keys[0], row) : PostgresText.ofRow(List.of(keys), row);
    }
}
