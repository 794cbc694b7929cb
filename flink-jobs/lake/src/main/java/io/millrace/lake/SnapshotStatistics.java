package io.millrace.lake;

import io.millrace.lake.column.LiveRows;
import io.millrace.lake.statistics.ColumnStatistics;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Types;

/*
 * Statistics of a column are kept per data file and set of deleted rows, and merged in the order of the snapshot's splits. A data file
 * never changes, so what is kept is valid for ever. One delete file of the streaming job usually overlaps the key range of every data
 * file but hits few of them: the key column alone is read to see which rows it hits, and a file that lost none keeps its statistics.
 * Because the merge starts anew each time and always in the same order, a snapshot gives the same numbers to the last bit whether or
 * not something was kept.
 */

/**
 * Statistics of columns at a snapshot.
 *
 * <p>Threads: any number; one at a time.
 */
public final class SnapshotStatistics {
    private static final long HELD_BYTES_MAX = 256L << 20;

    private static final int DELETED_ENTRIES_MAX = 100_000;

    private final Map<String, ColumnStatistics> held = new LinkedHashMap<>(16, 0.75f, true);
    private final Map<String, String> deletedRows = new LinkedHashMap<>();
    private long heldBytes;
    private long filesRead;

    /**
     * Reads or recalls.
     *
     * @param fields wanted columns, of the snapshot's schema
     * @return one for each field, in the order of the fields
     */
    public synchronized List<ColumnStatistics> of(Table table, List<LakeSplit> splits, List<Types.NestedField> fields) {
        List<ColumnStatistics> total = new ArrayList<>(fields.size());
        for (Types.NestedField field : fields) {
            total.add(new ColumnStatistics(PostgresTypes.columnType(field)));
        }
        for (LakeSplit split : splits) {
            List<ColumnStatistics> ofSplit = ofSplit(table, split, fields);
            for (int i = 0; i < fields.size(); i++) {
                total.get(i).merge(ofSplit.get(i));
            }
        }
        return total;
    }

    /** Files that were opened so far, for tests and metrics of reuse. */
    public synchronized long filesRead() {
        return filesRead;
    }

    private List<ColumnStatistics> ofSplit(Table table, LakeSplit split, List<Types.NestedField> fields) {
        String file = fileKey(table, split);
        Map<String, ColumnStatistics> found = new LinkedHashMap<>();
        List<Types.NestedField> missing = new ArrayList<>();
        for (Types.NestedField field : fields) {
            String key = columnKey(file, field);
            ColumnStatistics known = held.get(key);
            if (known == null) {
                missing.add(field);
            } else {
                found.put(key, known);
            }
        }
        if (!missing.isEmpty()) {
            List<ColumnStatistics> read = read(table, split, missing);
            for (int i = 0; i < missing.size(); i++) {
                String key = columnKey(file, missing.get(i));
                found.put(key, read.get(i));
                hold(key, read.get(i));
            }
        }
        List<ColumnStatistics> ordered = new ArrayList<>(fields.size());
        for (Types.NestedField field : fields) {
            ordered.add(found.get(columnKey(file, field)));
        }
        return ordered;
    }

    private List<ColumnStatistics> read(Table table, LakeSplit split, List<Types.NestedField> fields) {
        List<ColumnStatistics> statistics = new ArrayList<>(fields.size());
        for (Types.NestedField field : fields) {
            statistics.add(new ColumnStatistics(PostgresTypes.columnType(field)));
        }
        filesRead++;
        try (LiveRows rows = LiveRows.open(table.io(), split.schema(), split.task(), fields, false)) {
            while (rows.next()) {
                for (int i = 0; i < fields.size(); i++) {
                    statistics.get(i).add(rows.column(i), rows);
                }
            }
        }
        return statistics;
    }

    private void hold(String key, ColumnStatistics statistics) {
        held.put(key, statistics);
        heldBytes += statistics.heldBytes();
        var eldest = held.entrySet().iterator();
        while (heldBytes > HELD_BYTES_MAX && held.size() > 1) {
            heldBytes -= eldest.next().getValue().heldBytes();
            eldest.remove();
        }
    }

    private String fileKey(Table table, LakeSplit split) {
        String file = split.task().file().location() + "\n" + split.task().start() + "+"
                + split.task().length();
        if (split.task().deletes().isEmpty()) {
            return file;
        }
        TreeSet<String> deletes = new TreeSet<>();
        for (DeleteFile delete : split.task().deletes()) {
            deletes.add(delete.location() + "@" + delete.contentOffset());
        }
        String key = file + "\n" + String.join("\n", deletes);
        String known = deletedRows.get(key);
        if (known == null) {
            known = deletedRows(table, split);
            if (deletedRows.size() >= DELETED_ENTRIES_MAX) {
                deletedRows.clear();
            }
            deletedRows.put(key, known);
        }
        return file + known;
    }

    /** Names the set of deleted rows: nothing for none, else their number and a hash of their places. */
    private static String deletedRows(Table table, LakeSplit split) {
        long deleted = 0;
        long hash = 0;
        try (LiveRows rows = LiveRows.open(table.io(), split.schema(), split.task(), List.of(), false)) {
            while (rows.next()) {
                int live = 0;
                for (int row = 0; row < rows.rowCount(); row++) {
                    if (live < rows.liveCount() && rows.row(live) == row) {
                        live++;
                        continue;
                    }
                    deleted++;
                    hash = (hash ^ (rows.firstPosition() + row)) * 0x9E3779B97F4A7C15L;
                    hash ^= hash >>> 29;
                }
            }
        }
        return deleted == 0 ? "" : "\n-" + deleted + ":" + Long.toHexString(hash);
    }

    private static String columnKey(String file, Types.NestedField field) {
        return file + "\n" + field.fieldId() + ":" + field.type() + ":" + PostgresTypes.columnType(field);
    }
}
