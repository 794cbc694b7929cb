package io.millrace.snapshot.publish;

import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.jobs.DatabaseConnections;
import io.millrace.lake.SnapshotSize;
import io.millrace.snapshot.CapturedTables;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes {@code ml.snapshots}. A snapshot that is ready, failed or dropped is never changed again. Each call opens its
 * own connection: they are few.
 */
final class SnapshotRows implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final String OPEN = " WHERE snapshot_id = ? AND status NOT IN ('ready', 'failed', 'dropped')";
    private static final int ERROR_LENGTH_MAX = 4_000;

    private final DatabaseConnections database;

    SnapshotRows(DatabaseConnections database) {
        this.database = database;
    }

    Optional<SnapshotRow> read(long snapshotId) throws SQLException {
        String sql = "SELECT s.status, p.iceberg_snapshot_id, s.y_column_name, s.key_columns, s.features,"
                + " s.preprocess::text, ARRAY(SELECT ARRAY[c ->> 'name', c ->> 'pg-type'] FROM ml.captured_tables t,"
                + " jsonb_array_elements(t.columns) c WHERE t.relation = s.relation) FROM ml.snapshots s LEFT JOIN ml.snapshots p ON p.snapshot_id = s.parent_id"
                + " WHERE s.snapshot_id = ?";
        try (Connection connection = database.open("snapshot");
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, snapshotId);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(row(row)) : Optional.empty();
            }
        }
    }

    private static SnapshotRow row(ResultSet row) throws SQLException {
        long parent = row.getLong(2);
        boolean orphan = row.wasNull();
        List<String> keys = strings(row.getArray(4));
        return new SnapshotRow(
                row.getString(1),
                orphan ? null : parent,
                row.getString(3),
                keys == null ? List.of() : keys,
                strings(row.getArray(5)),
                row.getString(6),
                pairs(row.getArray(7)));
    }

    /** An array of pairs; without any it has no dimensions. */
    private static Map<String, String> pairs(Array array) throws SQLException {
        Map<String, String> pairs = new LinkedHashMap<>();
        if (array.getArray() instanceof String[][] rows) {
            for (String[] row : rows) {
                pairs.put(row[0], row[1]);
            }
        }
        return pairs;
    }

    private static @Nullable List<String> strings(@Nullable Array array) throws SQLException {
        return array == null ? null : List.of((String[]) array.getArray());
    }

    /** The request has been read; its table is still being loaded. */
    void loading(long snapshotId) throws SQLException {
        update("UPDATE ml.snapshots SET status = 'loading'" + OPEN + " AND status = 'requested'", snapshotId);
    }

    /** The lake snapshot is tagged; what remains is to fit. */
    void fitting(long snapshotId, long icebergSnapshotId, String tag, long lsn) throws SQLException {
        String sql = "UPDATE ml.snapshots SET status = 'fitting', iceberg_snapshot_id = ?, tag = ?,"
                + " lsn = '0/0'::pg_lsn + ?::numeric" + OPEN;
        try (Connection connection = database.open("snapshot");
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, icebergSnapshotId);
            statement.setString(2, tag);
            statement.setLong(3, lsn);
            statement.setLong(4, snapshotId);
            statement.executeUpdate();
        }
    }

    void ready(long snapshotId, SnapshotSize size, FittedPreprocessing fitted) throws SQLException {
        String sql = "UPDATE ml.snapshots SET status = 'ready', rows = ?, added_files = ?, bytes = ?, added_bytes = ?,"
                + " fitted_id = ?, feature_count = ?, fitted = ?, error = NULL, ready_at = now()" + OPEN;
        try (Connection connection = database.open("snapshot");
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, size.rows());
            statement.setInt(2, size.addedFiles());
            statement.setLong(3, size.bytes());
            statement.setLong(4, size.addedBytes());
            statement.setString(5, fitted.fittedId());
            statement.setInt(6, fitted.width());
            statement.setString(7, new String(fitted.toJson(), StandardCharsets.UTF_8));
            statement.setLong(8, snapshotId);
            statement.executeUpdate();
        }
    }

    void failed(long snapshotId, String reason) throws SQLException {
        String text = reason.length() > ERROR_LENGTH_MAX ? reason.substring(0, ERROR_LENGTH_MAX) : reason;
        try (Connection connection = database.open("snapshot");
                PreparedStatement statement =
                        connection.prepareStatement("UPDATE ml.snapshots SET status = 'failed', error = ?" + OPEN)) {
            statement.setString(1, text);
            statement.setLong(2, snapshotId);
            statement.executeUpdate();
        }
    }

    /** The table's initial load is done. */
    void streaming(String relation) throws SQLException {
        try (Connection connection = database.open("snapshot")) {
            CapturedTables.advance(connection, relation, "loading", "streaming");
        }
    }

    /** The table must leave the change job and be loaded again. */
    void reload(String relation) throws SQLException {
        try (Connection connection = database.open("snapshot")) {
            CapturedTables.advance(connection, relation, "streaming", "requested");
            CapturedTables.advance(connection, relation, "loading", "requested");
        }
    }

    /** Moves the log on, so that its reader learns how far it is even when no captured table changes. */
    void pulse() throws SQLException {
        try (Connection connection = database.open("snapshot");
                PreparedStatement statement =
                        connection.prepareStatement("SELECT pg_logical_emit_message(true, 'millrace', '')")) {
            statement.execute();
        }
    }

    private void update(String sql, long snapshotId) throws SQLException {
        try (Connection connection = database.open("snapshot");
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, snapshotId);
            statement.executeUpdate();
        }
    }
}
