package io.millrace.snapshot;

import io.millrace.contract.ConfigFile;
import io.millrace.jobs.DatabaseConnections;
import io.millrace.lake.Lake;
import io.millrace.lake.LakeConfig;
import io.millrace.lake.testing.TestingPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.iceberg.Table;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.types.Types;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** The lake and the database of one test, and what their rows are, in a form in which equal rows are equal. */
final class TestingLake implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final TestingPostgres postgres;
    private final Lake lake;
    final Map<String, String> databaseProperties;
    final Map<String, String> lakeProperties = new TreeMap<>();
    final LakeConfig config;
    final DatabaseConnections database;

    TestingLake(TestingPostgres postgres, Path directory) {
        this.postgres = postgres;
        this.databaseProperties = postgres.databaseProperties(TestingPostgres.WORKER);
        lakeProperties.put("warehouse-uri", directory.resolve("lake").toUri().toString());
        ConfigFile databaseFile = ConfigFile.of(Path.of("database.properties"), databaseProperties);
        this.config = LakeConfig.from(ConfigFile.of(Path.of("lake.properties"), lakeProperties), databaseFile);
        this.database = DatabaseConnections.from(databaseFile);
        this.lake = Lake.open(config);
    }

    /** Waits until the snapshot is ready and returns its row: lake snapshot, rows, fitted id. Fails with its error. */
    List<@Nullable String> awaitReady(long snapshotId) {
        List<@Nullable String> row = awaitSettled(snapshotId);
        if (!"ready".equals(row.get(0))) {
            throw new AssertionError("snapshot must be ready: status=" + row.get(0) + ", error=" + row.get(1));
        }
        return row.subList(2, row.size());
    }

    /** Waits until the snapshot is ready or failed: status, error, lake snapshot, rows, fitted id, bytes added, lsn. */
    List<@Nullable String> awaitSettled(long snapshotId) {
        String sql = "SELECT status, error, iceberg_snapshot_id, rows, fitted_id, added_bytes, lsn FROM ml.snapshots"
                + " WHERE snapshot_id = " + snapshotId;
        return Awaitility.await()
                .atMost(LIMIT)
                .pollInterval(Duration.ofMillis(100))
                .until(
                        () -> postgres.query(sql).get(0),
                        row -> "ready".equals(row.get(0)) || "failed".equals(row.get(0)));
    }

    void awaitStatus(String relation, String status) {
        Awaitility.await()
                .atMost(LIMIT)
                .pollInterval(Duration.ofMillis(100))
                .until(() -> status.equals(
                        postgres.query("SELECT max(status) FROM ml.captured_tables WHERE relation = '" + relation + "'")
                                .get(0)
                                .get(0)));
    }

    Table table(String lakeTable) {
        return lake.table(lakeTable);
    }

    /** The lake table's rows at a snapshot, without the version column, sorted. */
    List<String> lakeRows(String lakeTable, long icebergSnapshotId) throws Exception {
        Table table = lake.table(lakeTable);
        List<String> names = table.schema().columns().stream()
                .map(Types.NestedField::name)
                .filter(name -> !name.equals("_ver"))
                .toList();
        List<String> rows = new ArrayList<>();
        try (CloseableIterable<Record> records = IcebergGenerics.read(table)
                .useSnapshot(icebergSnapshotId)
                .select(names)
                .build()) {
            for (Record record : records) {
                List<@Nullable Object> values = new ArrayList<>();
                names.forEach(name -> values.add(record.getField(name)));
                rows.add(values.toString());
            }
        }
        rows.sort(Comparator.naturalOrder());
        return rows;
    }

    /** The source table's rows now, in the lake's terms, sorted. */
    List<String> sourceRows(String relation) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Connection connection = postgres.connect();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SELECT * FROM " + relation)) {
            while (result.next()) {
                List<@Nullable Object> values = new ArrayList<>();
                for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
                    values.add(value(result, i, result.getMetaData().getColumnTypeName(i)));
                }
                rows.add(values.toString());
            }
        }
        rows.sort(Comparator.naturalOrder());
        return rows;
    }

    private static @Nullable Object value(ResultSet row, int column, String type) throws SQLException {
        return switch (type) {
            case "int2", "int4" -> row.getObject(column) == null ? null : (Object) row.getInt(column);
            case "date" -> row.getObject(column, LocalDate.class);
            case "timestamp" -> row.getObject(column, LocalDateTime.class);
            case "timestamptz" -> row.getObject(column, OffsetDateTime.class);
            case "int8", "float4", "float8", "numeric", "bool" -> row.getObject(column);
            default -> row.getString(column);
        };
    }

    @Override
    public void close() {
        lake.close();
    }
}
