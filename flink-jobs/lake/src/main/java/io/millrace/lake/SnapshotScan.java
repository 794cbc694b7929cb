package io.millrace.lake;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Nearest;
import io.millrace.lake.column.LiveRows;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.io.CloseableGroup;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.CloseableIterator;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.util.SnapshotUtil;

/**
 * The rows of one snapshot: planned once, read split by split, deletes applied, only the wanted columns touched.
 *
 * <p>Order: data files by (data sequence number, path), rows in the order of the file. A snapshot never changes, so neither does the
 * order.
 */
public final class SnapshotScan {
    private SnapshotScan() {}

    /**
     * The splits of a snapshot, in order.
     *
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} if the snapshot is not in the table
     */
    public static List<LakeSplit> plan(Table table, long icebergSnapshotId) {
        Schema schema = schema(table, icebergSnapshotId);
        List<FileScanTask> tasks = new ArrayList<>();
        try (CloseableIterable<FileScanTask> files =
                table.newScan().useSnapshot(icebergSnapshotId).planFiles()) {
            files.forEach(tasks::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        tasks.sort(Comparator.comparing((FileScanTask task) -> task.file().dataSequenceNumber())
                .thenComparing(task -> task.file().location()));
        List<LakeSplit> splits = new ArrayList<>(tasks.size());
        for (FileScanTask task : tasks) {
            splits.add(new LakeSplit(splits.size(), schema, task));
        }
        return splits;
    }

    /**
     * The live rows of a split. The iterable can be iterated once at a time and gives one {@link LakeRow} that moves.
     *
     * @param table also a serializable copy of it
     * @param columns names of wanted columns; a row's columns have their indexes here
     * @throws ContractException {@link ErrorCode#UNKNOWN_COLUMN} if the snapshot has no such column
     */
    public static CloseableIterable<LakeRow> open(Table table, LakeSplit split, List<String> columns) {
        List<Types.NestedField> fields = new ArrayList<>(fields(split.schema(), columns));
        List<Types.NestedField> keys = keyFields(split.schema());
        fields.addAll(keys);
        return new Rows(() -> new RowIterator(
                LiveRows.open(table.io(), split.schema(), split.task(), fields, true), columns.size(), keys.size()));
    }

    /**
     * The schema a snapshot was written with.
     *
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} if the snapshot is not in the table
     */
    public static Schema schema(Table table, long icebergSnapshotId) {
        if (table.snapshot(icebergSnapshotId) == null) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "snapshot is not in the table: table=" + table.name() + ", snapshot=" + icebergSnapshotId);
        }
        return SnapshotUtil.schemaFor(table, icebergSnapshotId);
    }

    /** The columns of the primary key in the order of the table. */
    static List<Types.NestedField> keyFields(Schema schema) {
        Set<Integer> identifiers = schema.identifierFieldIds();
        return schema.columns().stream()
                .filter(field -> identifiers.contains(field.fieldId()))
                .toList();
    }

    static List<Types.NestedField> fields(Schema schema, List<String> columns) {
        List<Types.NestedField> fields = new ArrayList<>(columns.size());
        for (String column : columns) {
            fields.add(field(schema, column));
        }
        return fields;
    }

    static Types.NestedField field(Schema schema, String column) {
        for (Types.NestedField field : schema.columns()) {
            if (field.name().equals(column)) {
                return field;
            }
        }
        List<String> known = schema.columns().stream()
                .map(Types.NestedField::name)
                .filter(name -> !name.equals(PostgresTypes.VERSION_COLUMN))
                .toList();
        String nearest =
                Nearest.of(column, known).map(name -> ", nearest=" + name).orElse("");
        throw new ContractException(
                ErrorCode.UNKNOWN_COLUMN, "column is not in the snapshot: column=" + column + nearest);
    }

    /** Closing it closes the files its iterators opened. */
    private static final class Rows extends CloseableGroup implements CloseableIterable<LakeRow> {
        private final Supplier<RowIterator> open;

        private Rows(Supplier<RowIterator> open) {
            this.open = open;
        }

        @Override
        public CloseableIterator<LakeRow> iterator() {
            RowIterator iterator = open.get();
            addCloseable(iterator);
            return iterator;
        }
    }

    private static final class RowIterator implements CloseableIterator<LakeRow> {
        private final LiveRows rows;
        private final LakeRow row;
        private int next;
        private boolean ended;

        private RowIterator(LiveRows rows, int columnCount, int keyCount) {
            this.rows = rows;
            this.row = new LakeRow(rows, columnCount, keyCount);
        }

        @Override
        public boolean hasNext() {
            while (!ended && next >= rows.liveCount()) {
                ended = !rows.next();
                next = 0;
            }
            return !ended;
        }

        @Override
        public LakeRow next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            return row.moveTo(rows.row(next++));
        }

        @Override
        public void close() {
            rows.close();
        }
    }
}
