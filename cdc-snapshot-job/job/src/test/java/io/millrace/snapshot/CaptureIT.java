package io.millrace.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.lake.testing.TestingPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.common.JobID;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CaptureIT {
    private static final String CUSTOMERS =
            "CREATE TABLE customers (id bigint PRIMARY KEY, age int, plan text, spend numeric(10,2), churned boolean)";

    @TempDir
    static Path directory;

    private static TestingCluster cluster;

    private TestingPostgres postgres;
    private TestingLake lake;
    private @Nullable JobID job;

    @BeforeAll
    static void startCluster() throws Exception {
        cluster = TestingCluster.start(directory);
    }

    @AfterAll
    static void stopCluster() {
        cluster.close();
    }

    @BeforeEach
    void startDatabase(@TempDir Path lakeDirectory) {
        postgres = TestingPostgres.startWithMillrace();
        lake = new TestingLake(postgres, lakeDirectory);
    }

    @AfterEach
    void stopDatabase() throws Exception {
        if (job != null && !cluster.status(job).isGloballyTerminalState()) {
            cluster.cancel(job);
        }
        lake.close();
        postgres.close();
    }

    private static SnapshotConfig config() {
        return new SnapshotConfig(
                "millrace", "millrace", directory.resolve("checkpoints").toUri().toString(), 500, 200, 1_000, 200, 2);
    }

    private void start(@Nullable String restorePath, String... relations) throws Exception {
        List<TableRoute> routes = SnapshotJobMain.routes(lake.database, lake.config, Set.of(relations));
        assertThat(routes).hasSize(relations.length);
        try (Connection connection = postgres.connect()) {
            CapturedTables.load(connection, List.of(relations), List.of());
        }
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
        SnapshotJob.define(environment, lake.database, lake.config, config(), routes);
        job = cluster.submit(environment, restorePath);
    }

    private long snapshot(String relation, String label) {
        return id(postgres.query("SELECT snapshot_id FROM ml.snapshot('" + relation + "', '" + label + "')"));
    }

    private static long id(List<List<@Nullable String>> rows) {
        return Long.parseLong(String.valueOf(rows.get(0).get(0)));
    }

    private void insertCustomers(int from, int to) {
        postgres.execute(
                "INSERT INTO customers SELECT i, i % 80, CASE i % 3 WHEN 0 THEN 'basic' WHEN 1 THEN 'plus' END,"
                        + " i * 1.25, i % 4 = 0 FROM generate_series(" + from + ", " + to + ") i");
    }

    @Test
    void snapshotsHoldTheRowsOfTheirCommit() throws Exception {
        postgres.execute(CUSTOMERS);
        insertCustomers(1, 3_000);
        long first = snapshot("customers", "churned");
        start(null, "public.customers");
        List<@Nullable String> ready = lake.awaitReady(first);
        List<String> before = lake.sourceRows("customers");
        long firstIceberg = Long.parseLong(ready.get(0));
        assertThat(ready.get(1)).isEqualTo("3000");
        assertThat(lake.lakeRows("public.customers", firstIceberg)).isEqualTo(before);
        lake.awaitStatus("public.customers", "streaming");

        long second;
        try (Connection connection = postgres.connect();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("UPDATE customers SET spend = spend + 1, plan = 'new' WHERE id % 10 = 0");
            statement.execute("DELETE FROM customers WHERE id % 10 = 1");
            statement.execute("INSERT INTO customers VALUES (10001, NULL, NULL, NULL, true)");
            statement.execute("UPDATE customers SET age = 18 WHERE id = 10001");
            try (var row = statement.executeQuery("SELECT ml.refresh_snapshot(" + first + ")")) {
                row.next();
                second = row.getLong(1);
            }
            connection.commit();
        }
        List<String> after = lake.sourceRows("customers");
        List<@Nullable String> refreshed = lake.awaitReady(second);
        assertThat(lake.lakeRows("public.customers", Long.parseLong(refreshed.get(0))))
                .isEqualTo(after);
        assertThat(lake.lakeRows("public.customers", firstIceberg)).isEqualTo(before);
    }
}
