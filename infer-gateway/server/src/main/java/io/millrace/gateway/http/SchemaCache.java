package io.millrace.gateway.http;

import io.millrace.contract.Column;
import io.millrace.gateway.core.RowSchema;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/**
 * One schema for equal columns, since a model remembers its binding by the schema's identity. When it is full it is
 * emptied. Threads: any.
 */
final class SchemaCache {
    /** About 100 bytes each. */
    private static final int COLUMNS_MAX = 1 << 16;

    /** What an entry costs beside its columns, in columns. */
    private static final int ENTRY_COLUMNS = 4;

    private final ConcurrentHashMap<List<Column>, RowSchema> schemas = new ConcurrentHashMap<>();
    private int columnCount;

    RowSchema schema(List<Column> columns) {
        RowSchema known = schemas.get(columns);
        return known != null ? known : add(columns);
    }

    private synchronized RowSchema add(List<Column> columns) {
        RowSchema raced = schemas.get(columns);
        if (raced != null) {
            return raced;
        }
        RowSchema schema = new RowSchema(columns);
        int added = columns.size() + ENTRY_COLUMNS;
        if (added > COLUMNS_MAX) {
            return schema;
        }
        if (columnCount + added > COLUMNS_MAX) {
            schemas.clear();
            columnCount = 0;
        }
        columnCount += added;
        schemas.put(schema.columns(), schema);
        return schema;
    }
}
