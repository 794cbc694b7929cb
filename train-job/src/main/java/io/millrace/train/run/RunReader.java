package io.millrace.train.run;

import io.millrace.contract.Task;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads runs. */
public final class RunReader {
    private static final String SELECT = """
            SELECT r.run_id, r.attempt, r.status, r.cancel_requested, current_database() AS database, r.project_id, p.name AS project, r.task,
                r.algorithm, r.objective, r.hyperparams::text AS hyperparams, r.test_size::text AS test_size,
                r.test_sampling, r.seed, r.automatic_deploy, r.snapshot_id, s.iceberg_snapshot_id,
                coalesce(s.rows, 0) AS snapshot_rows, s.relation, c.lake_table, s.y_column_name, s.key_columns
            FROM ml.runs r
            JOIN ml.projects p USING (project_id)
            JOIN ml.snapshots s USING (snapshot_id)
            LEFT JOIN ml.captured_tables c ON c.relation = s.relation
            WHERE r.run_id = ?
            """;

    private static final String LINEAGE = """
            SELECT system_identifier || '.' || d.oid || '.' || e.oid
            FROM pg_catalog.pg_control_system(), pg_catalog.pg_database d, pg_catalog.pg_extension e
            WHERE d.datname = current_database() AND e.extname = 'millrace'
            """;

    private RunReader() {}

    /** The run, if it exists. */
    public static Optional<Run> read(Connection connection, long runId) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SELECT)) {
            statement.setLong(1, runId);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(run(row)) : Optional.empty();
            }
        }
    }

    /**
     * What run ids are unique in: this installation of the extension in this database of this cluster. A database made
     * again, or an extension installed again, counts its runs from 1 again.
     */
    public static String lineage(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LINEAGE);
                ResultSet row = statement.executeQuery()) {
            if (!row.next()) {
                throw new SQLException("extension millrace must be installed: database=" + connection.getCatalog());
            }
            return row.getString(1);
        }
    }

    private static Run run(ResultSet row) throws SQLException {
        return new Run(
                row.getLong("run_id"),
                row.getInt("attempt"),
                RunStatus.of(row.getString("status")),
                row.getBoolean("cancel_requested"),
                row.getString("database"),
                row.getLong("project_id"),
                row.getString("project"),
                Task.of(row.getString("task")),
                row.getString("algorithm"),
                row.getString("objective"),
                row.getString("hyperparams"),
                // A real as text has its shortest digits: 0.25, and 0.1 not 0.10000000149.
                Double.parseDouble(row.getString("test_size")),
                row.getString("test_sampling"),
                row.getLong("seed"),
                row.getBoolean("automatic_deploy"),
                row.getLong("snapshot_id"),
                nullableLong(row, "iceberg_snapshot_id"),
                row.getLong("snapshot_rows"),
                row.getString("relation"),
                row.getString("lake_table"),
                row.getString("y_column_name"),
                List.of((String[]) row.getArray("key_columns").getArray()));
    }

    private static @Nullable Long nullableLong(ResultSet row, String column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? null : value;
    }
}
