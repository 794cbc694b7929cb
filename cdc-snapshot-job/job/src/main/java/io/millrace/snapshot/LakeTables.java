package io.millrace.snapshot;

import io.millrace.lake.CapturedTable;
import io.millrace.lake.Lake;
import io.millrace.lake.LakeNames;
import java.sql.Connection;
import java.sql.SQLException;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.expressions.Expressions;

/** Makes the lake tables of captured tables ready for the change job. */
public final class LakeTables {
    private LakeTables() {}

    /**
     * Makes the lake table when it is missing, and gives it a first, empty snapshot, so that even an empty table has a state
     * that can be tagged.
     */
    public static TableRoute prepare(Connection connection, Lake lake, CapturedTable source) throws SQLException {
        TableIdentifier name = LakeNames.of(source.schemaName(), source.tableName());
        Table table = lake.createTable(source);
        if (table.currentSnapshot() == null) {
            table.newFastAppend().commit();
            table.refresh();
        }
        CapturedTables.setLakeTable(connection, source.relation(), name.toString());
        return new TableRoute(
                source.relation(), source.schemaName(), source.tableName(), name.toString(), table.schema());
    }

    /**
     * Empties the lake table before its source is loaded again from the start. Tagged snapshots keep their rows.
     */
    public static void clear(Lake lake, CapturedTable source) {
        Table table = lake.createTable(source);
        if (table.currentSnapshot() != null && hasRows(table)) {
            table.newDelete().deleteFromRowFilter(Expressions.alwaysTrue()).commit();
        }
    }

    private static boolean hasRows(Table table) {
        return !"0".equals(table.currentSnapshot().summary().getOrDefault("total-data-files", "0"));
    }
}
