package io.millrace.contract.fitted;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.RowReader;
import java.util.List;

/** Takes wanted columns out of the rows of a source, as they are. Immutable; any thread. */
public final class RawTransform {
    /** Reads one value and puts it where it belongs. */
    @FunctionalInterface
    private interface Part {
        void apply(RowReader row, RawRows out, int outRow);
    }

    private final Part[] parts;

    private RawTransform(Part[] parts) {
        this.parts = parts;
    }

    static RawTransform bind(FittedPreprocessing fitted, List<RawColumn> wanted, List<Column> source) {
        int[] columns = Binding.columns(fitted.columns(), source);
        Part[] parts = new Part[wanted.size()];
        for (int index = 0; index < parts.length; index++) {
            RawColumn column = wanted.get(index);
            int input = fitted.inputs().indexOf(column.name());
            if (input < 0) {
                throw new ContractException(
                        ErrorCode.MISSING_COLUMN, "wanted column is no input: column=" + column.name());
            }
            parts[index] =
                    part(fitted.columns().get(input), source.get(columns[input]), columns[input], column.form(), index);
        }
        return new RawTransform(parts);
    }

    private static Part part(FittedColumn input, Column given, int at, RawColumn.Form form, int index) {
        return switch (form) {
            case REAL -> real(NumberSource.of(input, given), at, index);
            case INTEGER -> integer(input, given, at, index);
            case TEXT -> text(input, given, at, index);
        };
    }

    private static Part real(NumberSource source, int at, int index) {
        return (row, out, outRow) -> out.real(index, outRow, row.isNull(at) ? Double.NaN : source.read(row, at));
    }

    private static Part integer(FittedColumn input, Column given, int at, int index) {
        if (given.type() == ColumnType.INT64 && input.type().isNumeric()) {
            return (row, out, outRow) ->
                    out.integer(index, outRow, notNull(row, at, input).int64(at));
        }
        NumberSource source = NumberSource.of(input, given);
        return (row, out, outRow) -> {
            double value = source.read(notNull(row, at, input), at);
            if (value != Math.rint(value) || Math.abs(value) >= 0x1p63) {
                throw new ContractException(
                        ErrorCode.INVALID_VALUE, "feature value must be a whole number: column=" + input.name());
            }
            out.integer(index, outRow, (long) value);
        };
    }

    private static Part text(FittedColumn input, Column given, int at, int index) {
        if (given.type() != ColumnType.TEXT) {
            throw NumberSource.wrongType(input, given.type());
        }
        return (row, out, outRow) ->
                out.text(index, outRow, notNull(row, at, input).text(at));
    }

    private static RowReader notNull(RowReader row, int at, FittedColumn input) {
        if (row.isNull(at)) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "feature value cannot be NULL, since the model has no missing value for it: column="
                            + input.name());
        }
        return row;
    }

    /**
     * Writes a row.
     *
     * @param row of the bound source
     * @param out of the wanted columns, with room for the row
     * @param outRow where it goes
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} naming a column that is NULL or no whole number where
     *     the model takes neither, or a text that is no date; {@link ErrorCode#WRONG_TYPE} if a text stands for a number
     */
    public void apply(RowReader row, RawRows out, int outRow) {
        for (Part part : parts) {
            part.apply(row, out, outRow);
        }
    }
}
