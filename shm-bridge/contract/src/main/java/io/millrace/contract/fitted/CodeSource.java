package io.millrace.contract.fitted;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.RowReader;
import io.millrace.contract.TextLevels;
import java.util.List;

/** Reads a raw value that is not NULL as the index of its level; -1 when it is none of the levels. */
@FunctionalInterface
interface CodeSource {
    int read(RowReader row, int column);

    /**
     * The source of an input from a column of the rows to come.
     *
     * @throws ContractException {@link ErrorCode#WRONG_TYPE} naming the column and both types if the column cannot
     *     stand for the input
     */
    static CodeSource of(FittedColumn input, Column given) {
        List<String> levels = FittedColumn.levels(input.encoder());
        if (input.type() != ColumnType.TEXT) {
            NumberSource numbers = NumberSource.of(input, given);
            Levels table = Levels.of(input.type(), levels);
            return (row, column) -> table.indexOf(numbers.read(row, column));
        }
        if (given.type() != ColumnType.TEXT) {
            throw new ContractException(
                    ErrorCode.WRONG_TYPE,
                    "feature column has the wrong type: column=" + input.name() + ", type="
                            + given.type().text() + ", expectedType="
                            + input.type().text());
        }
        TextLevels table = new TextLevels(levels);
        return (row, column) -> row.level(column, table);
    }
}
