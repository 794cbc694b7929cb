package io.millrace.gateway.http;

import io.millrace.contract.Fnv1a;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.envelope.RequestLimits;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/*
 * The tables are asked for their mark at each poll and read only when it changed. Models and deployments are inserted and
 * deleted, never updated by what Millrace does: an insertion moves the largest id, a deletion the count, and an extension
 * that is made anew has another oid; limits are few and compared whole. What an administrator updates by hand is seen within a minute.
 *
 * A poll and not LISTEN: it also works on a standby, where LISTEN does not.
 */
/** The tables of the extension, over JDBC. Threads: one at a time. */
final class CatalogDatabase implements CatalogSource {
    private static final long REREAD_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final String MARK = """
            SELECT concat_ws(' ', 'ml.models'::regclass::oid,
              (SELECT count(*) || ' ' || coalesce(max(project_id), 0) FROM ml.projects),
              (SELECT count(*) || ' ' || coalesce(max(model_id), 0) FROM ml.models),
              (SELECT count(*) || ' ' || coalesce(max(deployment_id), 0) FROM ml.deployments),
              (SELECT md5(string_agg(l::text, ' ' ORDER BY project_id)) FROM ml.limits l))""";

    private static final String PROJECTS = """
            SELECT p.project_id, p.name, m.model_id, m.uri, m.sha256, m.bytes, m.format, m.model_id = d.model_id AS deployed,
                l.requests_per_second, l.rows_per_second, l.concurrent_requests, l.on_limit = 'wait' AS waits,
                coalesce(l.merge_window_us, -1) AS merge_window_us,
                (SELECT system_identifier FROM pg_control_system()) AS cluster,
                (SELECT oid::bigint FROM pg_database WHERE datname = current_database()) AS database
            FROM ml.projects p
            LEFT JOIN ml.limits l ON l.project_id = p.project_id
            LEFT JOIN ml.models m ON m.project_id = p.project_id
            LEFT JOIN LATERAL (SELECT model_id FROM ml.deployments WHERE project_id = p.project_id
                ORDER BY deployment_id DESC LIMIT 1) d ON true""";

    private final DatabaseAddress address;
    private @Nullable Connection connection;
    private String mark = "";
    private long readNanos;

    CatalogDatabase(DatabaseAddress address) {
        this.address = address;
    }

    @Override
    public @Nullable Catalog poll() throws SQLException {
        try {
            if (connection == null) {
                connection = address.open();
            }
            try (Statement statement = connection.createStatement()) {
                return poll(statement);
            }
        } catch (SQLException e) {
            // Whatever it was, the next poll begins with a new connection; what was read before is not forgotten.
            close();
            throw e;
        }
    }

    private @Nullable Catalog poll(Statement statement) throws SQLException {
        String present;
        try (ResultSet result = statement.executeQuery(MARK)) {
            result.next();
            present = result.getString(1);
        }
        if (present.equals(mark) && System.nanoTime() - readNanos < REREAD_NANOS) {
            return null;
        }
        Catalog catalog;
        try (ResultSet result = statement.executeQuery(PROJECTS)) {
            catalog = read(result);
        }
        // The mark is older than the rows, so what came between the two is read again.
        mark = present;
        readNanos = System.nanoTime();
        return catalog;
    }

    private Catalog read(ResultSet result) throws SQLException {
        Map<String, Catalog.Project> projects = new TreeMap<>();
        while (result.next()) {
            String name = result.getString("name");
            Catalog.Project project =
                    projects.computeIfAbsent(name, key -> new Catalog.Project(key, null, new TreeMap<>()));
            long modelId = result.getLong("model_id");
            if (result.wasNull()) {
                continue;
            }
            ModelReference reference = new ModelReference(
                    modelId,
                    name,
                    address.database(),
                    result.getString("uri"),
                    result.getString("sha256"),
                    result.getLong("bytes"),
                    limits(result));
            project.models().put(modelId, new Catalog.Model(reference, result.getString("format"), tenantKey(result)));
            if (result.getBoolean("deployed")) {
                projects.put(name, new Catalog.Project(name, modelId, project.models()));
            }
        }
        return new Catalog(projects);
    }

    /** NULL reads as 0, and 0 is no limit; a merge window of 0 is one. */
    private static RequestLimits limits(ResultSet result) throws SQLException {
        return new RequestLimits(
                result.getLong("requests_per_second"),
                result.getLong("rows_per_second"),
                result.getLong("concurrent_requests"),
                result.getBoolean("waits"),
                result.getLong("merge_window_us"));
    }

    /** The key that the extension gives the project, so that SQL and HTTP draw on the same limits. */
    private static long tenantKey(ResultSet result) throws SQLException {
        ByteBuffer numbers = ByteBuffer.allocate(3 * Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(result.getLong("cluster"))
                .putLong(result.getLong("database"))
                .putLong(result.getLong("project_id"));
        return Fnv1a.of(numbers, 0, numbers.capacity());
    }

    @Override
    public void close() {
        Connection open = connection;
        connection = null;
        try {
            if (open != null) {
                open.close();
            }
        } catch (SQLException alreadyLost) {
            // It is not used any longer.
        }
    }
}
