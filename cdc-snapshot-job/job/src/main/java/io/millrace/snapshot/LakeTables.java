package io.millrace.snapshot;

import io.millrace.contract.ContractException;
import io.millrace.lake.CapturedTable;
import io.millrace.lake.Lake;
import io.millrace.lake.LakeNames;
import io.millrace.lake.PostgresTypes;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.UpdateSchema;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.types.Types;

/** Makes the lake tables of captured tables ready for the change job. */
public final class LakeTables {
    private LakeTables() {}

    /**
     * Makes the lake table when it is missing, and gives it a first, empty snapshot, so that even an empty table has a state
     * that can be tagged.
     *
     * @throws ContractException if the lake cannot carry the table
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
     * Empties the lake table before its source is loaded again from the start, and gives it the source's columns. Tagged snapshots
     * keep their rows and columns.
     *
     * @throws ContractException if the lake cannot carry the table
     */
    public static void clear(Lake lake, CapturedTable source) {
        Table table = lake.createTable(source);
        if (table.currentSnapshot() != null && hasRows(table)) {
            table.newDelete().deleteFromRowFilter(Expressions.alwaysTrue()).commit();
        }
        adopt(table, PostgresTypes.schema(source));
    }

    /** Gives the empty table the columns of {@code wanted}: by name, and under a new id where the type is another. */
    private static void adopt(Table table, Schema wanted) {
        Schema has = table.schema();
        UpdateSchema update = table.updateSchema().allowIncompatibleChanges();
        boolean changed = false;
        for (Types.NestedField field : has.columns()) {
            Types.NestedField kept = wanted.findField(field.name());
            if (kept == null || !kept.type().equals(field.type())) {
                update.deleteColumn(field.name());
                changed = true;
            } else if (!Objects.equals(kept.doc(), field.doc())) {
                update.updateColumnDoc(field.name(), kept.doc());
                changed = true;
            }
        }
        for (Types.NestedField field : wanted.columns()) {
            Types.NestedField known = has.findField(field.name());
            if (known == null || !known.type().equals(field.type())) {
                if (field.isOptional()) {
                    update.addColumn(field.name(), field.type(), field.doc());
                } else {
                    update.addRequiredColumn(field.name(), field.type(), field.doc());
                }
                changed = true;
            } else if (known.isOptional() != field.isOptional()) {
                if (field.isOptional()) {
                    update.makeColumnOptional(field.name());
                } else {
                    update.requireColumn(field.name());
                }
                changed = true;
            }
        }
        if (changed || !has.identifierFieldNames().equals(wanted.identifierFieldNames())) {
            String previous = null;
            for (Types.NestedField field : wanted.columns()) {
                if (previous == null) {
                    update.moveFirst(field.name());
                } else {
                    update.moveAfter(field.name(), previous);
                }
                previous = field.name();
            }
            update.setIdentifierFields(wanted.identifierFieldNames()).commit();
        }
    }

    private static boolean hasRows(Table table) {
        return !"0".equals(table.currentSnapshot().summary().getOrDefault("total-data-files", "0"));
    }
}
