package io.millrace.snapshot;

import java.io.Serializable;
import org.apache.iceberg.Schema;

/**
 * A captured table and where its rows go.
 *
 * @param relation schema and table, both quoted as SQL quotes them: the name requests use
 * @param schemaName unquoted
 * @param tableName unquoted
 * @param lakeTable {@code namespace.table}
 * @param schema the lake table's schema, its own field ids; identifier fields are the key
 */
public record TableRoute(String relation, String schemaName, String tableName, String lakeTable, Schema schema)
        implements Serializable {
    private static final long serialVersionUID = 1L;
}
