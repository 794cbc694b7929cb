package io.millrace.gateway.http;

import io.millrace.contract.Column;
import io.millrace.contract.RowReader;
import io.millrace.contract.TextLevels;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The inputs of a request as rows: one matrix with the features in their order, or one input for each column. A view that
 * moves. Threads: one.
 */
final class TensorRows implements RowReader {
    private final List<Column> columns;
    private final TensorValues[] values;
    private final int rowCount;
    /** Of a value's row and column in its input: a matrix holds all columns, another input one. */
    private final int rowStride;

    private final int columnStride;
    private int row = -1;

    private TensorRows(List<Column> columns, TensorValues[] values, int rowCount, int rowStride, int columnStride) {
        this.columns = columns;
        this.values = values;
        this.rowCount = rowCount;
        this.rowStride = rowStride;
        this.columnStride = columnStride;
    }

    /** Rows of one input of a shape {@code [rowCount, width]}; the columns have no names. */
    static TensorRows ofMatrix(Datatype datatype, TensorValues values, int rowCount, int width) {
        TensorValues[] all = new TensorValues[width];
        Arrays.fill(all, values);
        List<Column> columns = Collections.nCopies(width, new Column("", datatype.columnType(), true));
        return new TensorRows(columns, all, rowCount, width, 1);
    }

    /** Rows of inputs of {@code rowCount} values each, named by the columns. */
    static TensorRows ofColumns(List<Column> columns, List<TensorValues> values, int rowCount) {
        return new TensorRows(columns, values.toArray(new TensorValues[0]), rowCount, 1, 0);
    }

    List<Column> columns() {
        return columns;
    }

    int rowCount() {
        return rowCount;
    }

    /** Moves to the next row; stands before the first one at the beginning. */
    TensorRows next() {
        row++;
        return this;
    }

    private int index(int column) {
        return row * rowStride + column * columnStride;
    }

    @Override
    public boolean isNull(int column) {
        return values[column].isNull(index(column));
    }

    @Override
    public boolean booleanValue(int column) {
        return values[column].booleanValue(index(column));
    }

    @Override
    public long int64(int column) {
        return values[column].int64(index(column));
    }

    @Override
    public double float64(int column) {
        return values[column].float64(index(column));
    }

    @Override
    public String text(int column) {
        return values[column].text(index(column));
    }

    @Override
    public int level(int column, TextLevels levels) {
        return values[column].level(index(column), levels);
    }
}
