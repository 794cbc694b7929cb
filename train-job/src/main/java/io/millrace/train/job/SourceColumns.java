package io.millrace.train.job;

import io.millrace.contract.Column;
import io.millrace.lake.PostgresTypes;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.Schema;
import org.apache.iceberg.types.Types;

/** The columns that are read of a snapshot, each once, in the order in which they were first asked for. */
final class SourceColumns {
    private final Schema schema;
    private final List<Column> columns = new ArrayList<>();

    SourceColumns(Schema schema) {
        this.schema = schema;
    }

    /** The index of a column in the rows; the column is read from now on. */
    int add(String name) {
        int index = names().indexOf(name);
        if (index < 0) {
            index = columns.size();
            columns.add(column(name));
        }
        return index;
    }

    /** Reads a column if the snapshot has it. */
    void addIfPresent(String name) {
        if (schema.findField(name) != null) {
            add(name);
        }
    }

    /** A column by itself, read or not. */
    Column column(String name) {
        Types.NestedField field = schema.findField(name);
        return new Column(name, PostgresTypes.columnType(field), true);
    }

    List<Column> columns() {
        return columns;
    }

    List<String> names() {
        return columns.stream().map(Column::name).toList();
    }
}
