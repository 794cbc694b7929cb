package io.millrace.snapshot;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.Collector;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.flink.sink.dynamic.DynamicRecord;
import org.apache.iceberg.flink.sink.dynamic.DynamicRecordGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Turns changes into lake records: a row that is gone becomes an equality delete by its key, a row that is there an append.
 * Records stay in the task that read them, in order.
 */
final class LakeRecords implements DynamicRecordGenerator<Change> {
    private static final long serialVersionUID = 1L;

    private final List<TableRoute> tables;
    private transient Map<String, Target> targets = new HashMap<>();

    LakeRecords(List<TableRoute> tables) {
        this.tables = List.copyOf(tables);
    }

    @Override
    public void open(OpenContext context) {
        targets = new HashMap<>();
        for (TableRoute table : tables) {
            targets.put(table.relation(), Target.of(table));
        }
    }

    @Override
    public void generate(Change change, Collector<DynamicRecord> out) {
        Target target = change.kind() == Change.Kind.ROW ? targets.get(change.relation()) : null;
        if (target != null) {
            target.emit(change.before(), RowKind.DELETE, out);
            target.emit(change.after(), RowKind.INSERT, out);
        }
    }

    /** What is the same for all records of a table; the sink recognises the schema by its identity. */
    private record Target(TableIdentifier table, Schema schema, Set<String> key) {
        static Target of(TableRoute route) {
            Schema schema = route.schema();
            Set<String> key = schema.identifierFieldIds().stream()
                    .map(schema::findColumnName)
                    .collect(Collectors.toSet());
            return new Target(TableIdentifier.parse(route.lakeTable()), schema, key);
        }

        void emit(@Nullable GenericRowData row, RowKind kind, Collector<DynamicRecord> out) {
            if (row == null) {
                return;
            }
            row.setRowKind(kind);
            DynamicRecord record =
                    new DynamicRecord(table, SnapshotRef.MAIN_BRANCH, schema, row, PartitionSpec.unpartitioned());
            record.setEqualityFields(key);
            record.setUpsertMode(false);
            out.collect(record);
        }
    }
}
