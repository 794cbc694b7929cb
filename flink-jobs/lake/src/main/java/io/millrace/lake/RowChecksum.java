package io.millrace.lake;

import io.millrace.lake.column.ColumnVector;
import io.millrace.lake.column.LiveRows;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Types;
import org.jspecify.annotations.Nullable;

/**
 * A number for a set of rows that does not depend on their order and can be kept up to date: rows are added and removed one by one. Two
 * sets with the same count and sum hold the same rows, but for one chance in 2^64.
 *
 * <p>A row is its values as text, as PostgreSQL prints them by {@code value::text} in time zone UTC. So the rows at a snapshot can be
 * compared with the rows of the source table at that moment.
 *
 * <p>Threads: one.
 */
public final class RowChecksum {
    private static final long OFFSET = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private long rows;
    private long sum;

    /** The live rows of a snapshot, all columns of the source in the order of the lake table. */
    public static RowChecksum of(Table table, long icebergSnapshotId) {
        RowChecksum checksum = new RowChecksum();
        forEachRow(table, icebergSnapshotId, checksum::add);
        return checksum;
    }

    /** Hands out the texts of each live row, in a list that is used again for the next. */
    static void forEachRow(Table table, long icebergSnapshotId, Consumer<List<@Nullable String>> action) {
        List<@Nullable String> values = new ArrayList<>();
        for (LakeSplit split : SnapshotScan.plan(table, icebergSnapshotId)) {
            List<Types.NestedField> fields = sourceFields(split);
            try (LiveRows live = LiveRows.open(table.io(), split.schema(), split.task(), fields, true)) {
                while (live.next()) {
                    for (int i = 0; i < live.liveCount(); i++) {
                        values.clear();
                        for (int column = 0; column < fields.size(); column++) {
                            ColumnVector vector = live.column(column);
                            int row = live.row(i);
                            values.add(vector.isNull(row) ? null : PostgresText.of(vector, row));
                        }
                        action.accept(values);
                    }
                }
            }
        }
    }

    /** Adds a row by the texts of its values. */
    public void add(List<@Nullable String> values) {
        rows++;
        sum += hash(values);
    }

    /** Takes a row away that was added. */
    public void remove(List<@Nullable String> values) {
        rows--;
        sum -= hash(values);
    }

    /** Rows in the set. */
    public long rows() {
        return rows;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RowChecksum that && that.rows == rows && that.sum == sum;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(sum);
    }

    /** {@code rows:sum}, the sum in hexadecimal. */
    @Override
    public String toString() {
        return rows + ":" + Long.toHexString(sum);
    }

    private static List<Types.NestedField> sourceFields(LakeSplit split) {
        return split.schema().columns().stream()
                .filter(field -> !field.name().equals(PostgresTypes.VERSION_COLUMN))
                .toList();
    }

    /** FNV-1a over the values, each with its length before it so that no two rows have the same bytes, then mixed. */
    private static long hash(List<@Nullable String> values) {
        long hash = OFFSET;
        for (String value : values) {
            if (value == null) {
                hash = (hash ^ 0xff) * PRIME;
                continue;
            }
            byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
            for (int shift = 0; shift < 32; shift += 8) {
                hash = (hash ^ ((bytes.length >>> shift) & 0xff)) * PRIME;
            }
            for (byte b : bytes) {
                hash = (hash ^ (b & 0xff)) * PRIME;
            }
        }
        // FNV alone is too regular to be summed.
        hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
        hash = (hash ^ (hash >>> 33)) * 0xc4ceb9fe1a85ec53L;
        return hash ^ (hash >>> 33);
    }
}
