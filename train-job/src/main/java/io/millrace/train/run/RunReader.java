package io.millrace.train.run;

import io.millrace.contract.Task;
import io.millrace.store.ModelStore;
import io.millrace.train.spec.DeployedModel;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
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

    private static final String DEPLOYED = """
            SELECT m.model_id, m.uri, m.sha256, coalesce(m.fitted_id, '') AS fitted_id, m.bytes
            FROM ml.deployments d JOIN ml.models m USING (model_id)
            WHERE d.project_id = ? ORDER BY d.deployment_id DESC LIMIT 1
            """;

    // Each is named to three trainings that succeed: one may be cut short, and a cancelled attempt may publish late.
    private static final String LEFTOVERS = """
            SELECT r.project_id, r.run_id, a.attempt, current_database() AS database
            FROM ml.runs r CROSS JOIN generate_series(1, r.attempt) AS a (attempt)
            WHERE (r.status IN ('failed', 'cancelled') OR r.status = 'succeeded' AND a.attempt < r.attempt)
                AND r.finished_at > coalesce((SELECT s.started_at FROM ml.runs s WHERE s.status = 'succeeded'
                    ORDER BY s.run_id DESC OFFSET 2 LIMIT 1), '-infinity')
            ORDER BY r.finished_at DESC LIMIT ?
            """;

    /** What {@link ModelStore#publish} puts before the directory. */
    private static final String PACKAGE_PREFIX = "store:";

    private static final int LEFTOVER_LIMIT = 200;

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

    /** The model in force in a project. */
    public static Optional<DeployedModel> deployedModel(Connection connection, long projectId) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(DEPLOYED)) {
            statement.setLong(1, projectId);
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? Optional.of(new DeployedModel(
                                row.getLong("model_id"),
                                row.getString("uri"),
                                row.getString("sha256"),
                                row.getString("fitted_id"),
                                row.getLong("bytes")))
                        : Optional.empty();
            }
        }
    }

    /**
     * Packages that attempts of ended runs may have published and that no model refers to, or ever will: what a run that
     * has ended did not record is not recorded any more.
     *
     * @param lineage what run ids are unique in
     */
    public static List<String> leftovers(Connection connection, String lineage) throws SQLException {
        Set<String> uris = new LinkedHashSet<>();
        try (PreparedStatement statement = connection.prepareStatement(LEFTOVERS)) {
            statement.setInt(1, LEFTOVER_LIMIT);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    uris.add(PACKAGE_PREFIX
                            + ModelStore.directory(
                                    JobId.storeName(row.getString("database"), lineage),
                                    row.getLong("project_id"),
                                    row.getLong("run_id"),
                                    row.getInt("attempt")));
                }
            }
        }
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT uri FROM ml.models WHERE uri = ANY (?)")) {
            statement.setArray(1, connection.createArrayOf("text", uris.toArray()));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    uris.remove(row.getString(1));
                }
            }
        }
        return List.copyOf(uris);
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
