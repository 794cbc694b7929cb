package io.millrace.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.FlinkRest;
import io.millrace.jobs.FlinkRestException;
import io.millrace.lake.testing.TestingPostgres;
import java.io.StringReader;
import java.net.URI;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.JobID;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.iceberg.SnapshotSummary;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.PGConnection;

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

    @Test
    void everyTypeComesBackAsItWas() throws Exception {
        postgres.execute(
                "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
                "CREATE EXTENSION citext",
                "CREATE DOMAIN share AS numeric(3,2)",
                "CREATE SCHEMA \"Odd.Schema\"",
                """
                CREATE TABLE "Odd.Schema"."Tab, le ""q"" \uD83D\uDE00" (
                    "Key.1" uuid, "key 2 \u00fc" text, i2 smallint, i4 integer, i8 bigint, f4 real, "gr\u00f6\u00dfe \u20ac" double precision,
                    n numeric(12,3), "free" numeric, b boolean, v varchar(20), c char(4), d date, t timestamp, t3 timestamp(3),
                    z timestamptz, m mood, ci citext, s share, long text, label integer, PRIMARY KEY ("Key.1", "key 2 \u00fc"))""",
                """
                INSERT INTO "Odd.Schema"."Tab, le ""q"" \uD83D\uDE00" VALUES
                    ('00000000-0000-0000-0000-000000000001', 'a', -32768, -2147483648, -9223372036854775808, -1.5, 2.5e300,
                     -123456789.125, 12345678901234567890.0123456789, true, 'v\u00e9', 'c', '0001-01-01',
                     '1969-12-31 23:59:59.999999', '2024-02-29 12:00:00.123', '2024-06-01 00:00:00+02', 'sad', 'Ab', 0.25, (SELECT string_agg(md5(i::text), '')
                     FROM generate_series(1, 500) i), 1),
                    ('00000000-0000-0000-0000-000000000002', 'b''"\uD83D\uDE00', 32767, 2147483647, 9223372036854775807, 'NaN', 'Infinity',
                     0.001, -0.5, false, '', 'four', '9999-12-31', '2262-04-11 23:47:16.854775', '0001-01-01 00:00:00',
                     '1901-12-13 20:45:52.000001+00', 'happy', '', 1, 'short', 2),
                    ('00000000-0000-0000-0000-000000000003', '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                     NULL, '0001-01-01 00:00:00.000001', NULL, '0001-01-01 00:00:00+00', NULL, NULL, NULL, NULL, 3)""");
        String relation = "\"Odd.Schema\".\"Tab, le \"\"q\"\" \uD83D\uDE00\"";
        long first = snapshot(relation, "label");
        start(null, relation);
        String lakeTable = String.valueOf(postgres.query("SELECT lake_table FROM ml.captured_tables")
                .get(0)
                .get(0));
        assertSnapshotEquals(first, lakeTable, relation);
        // The same values again, through the log this time.
        postgres.execute(
                "INSERT INTO " + relation
                        + " SELECT \"Key.1\", \"key 2 \u00fc\" || '!', i2, i4, i8, f4, \"gr\u00f6\u00dfe \u20ac\", n, \"free\", b, v, c, d, t,"
                        + " t3, z, m, ci, s, long, label + 1 FROM " + relation,
                "UPDATE " + relation + " SET \"key 2 \u00fc\" = 'moved', label = 9 WHERE \"key 2 \u00fc\" = 'a'");
        assertSnapshotEquals(snapshot(relation, "label"), lakeTable, relation);
    }

    @Test
    void valuesThatTheLakeCannotHoldAreMissing() throws Exception {
        postgres.execute(
                "CREATE TABLE edges (id int PRIMARY KEY, n numeric(6,2), d date, t timestamp, z timestamptz, label int)",
                "INSERT INTO edges VALUES (1, 'NaN', 'infinity', '-infinity', 'infinity', 1),"
                        + " (2, 1.5, '-infinity', 'infinity', '-infinity', 2)");
        long first = snapshot("edges", "label");
        start(null, "public.edges");
        List<@Nullable String> ready = lake.awaitReady(first);
        assertThat(lake.lakeRows("public.edges", Long.parseLong(String.valueOf(ready.get(0)))))
                .containsExactly("[1, null, null, null, null, 1]", "[2, 1.50, null, null, null, 2]");
        postgres.execute("INSERT INTO edges SELECT id + 10, n, d, t, z, label FROM edges");
        ready = lake.awaitReady(snapshot("edges", "label"));
        assertThat(lake.lakeRows("public.edges", Long.parseLong(String.valueOf(ready.get(0)))))
                .contains("[11, null, null, null, null, 1]", "[12, 1.50, null, null, null, 2]");
    }

    @Test
    void aRequestThatCannotBeAnsweredFailsAlone() throws Exception {
        postgres.execute(CUSTOMERS);
        insertCustomers(1, 100);
        long good = snapshot("customers", "churned");
        postgres.execute("ALTER TABLE customers ADD COLUMN gap int");
        long bad = snapshot("customers", "gap");
        try (Connection connection = postgres.connect();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT ml.snapshot('customers', 'age')");
            connection.rollback();
        }
        start(null, "public.customers");
        List<@Nullable String> failed = lake.awaitSettled(bad);
        assertThat(failed.get(0)).isEqualTo("failed");
        assertThat(failed.get(1)).contains("gap");
        lake.awaitReady(good);
        lake.awaitReady(snapshot("customers", "churned"));
        assertThat(lake.table("public.customers").refs().keySet())
                .containsExactlyInAnyOrder("main", "ml_snapshot_1", "ml_snapshot_2", "ml_snapshot_4");
    }

    @Test
    void anEmptyTableIsASnapshotWithoutRows() throws Exception {
        postgres.execute(CUSTOMERS);
        long empty = snapshot("customers", "churned");
        start(null, "public.customers");
        assertThat(lake.awaitSettled(empty).get(0)).isEqualTo("failed");
        insertCustomers(1, 50);
        assertSnapshotEquals(snapshot("customers", "churned"), "public.customers", "customers");
        List<@Nullable String> row = postgres.query(
                        "SELECT iceberg_snapshot_id FROM ml.snapshots WHERE snapshot_id = " + empty)
                .get(0);
        assertThat(lake.lakeRows("public.customers", Long.parseLong(String.valueOf(row.get(0)))))
                .isEmpty();
    }

    @Test
    void lostTaskManagersLoseAndDoubleNothing() throws Exception {
        postgres.execute(CUSTOMERS);
        insertCustomers(1, 20_000);
        long first = snapshot("customers", "churned");
        start(null, "public.customers");
        Thread writer = new Thread(() -> {
            for (int i = 0; i < 60; i++) {
                insertCustomers(20_001 + i * 10, 20_010 + i * 10);
                postgres.execute(
                        "UPDATE customers SET spend = spend + 1 WHERE id % 97 = " + i,
                        "DELETE FROM customers WHERE id % 211 = " + i);
            }
        });
        writer.start();
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .ignoreException(FlinkRestException.class)
                .until(() -> completedCheckpoints() > 0);
        for (int kill = 0; kill < 3; kill++) {
            long completed = completedCheckpoints();
            Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> completedCheckpoints() > completed + 2);
            cluster.replaceTaskManager();
        }
        writer.join();
        lake.awaitReady(first);
        assertSnapshotEquals(snapshot("customers", "churned"), "public.customers", "customers");
    }

    private long completedCheckpoints() throws Exception {
        return new FlinkRest(URI.create(cluster.restUri()), Duration.ofSeconds(20))
                .completedCheckpoints(String.valueOf(job));
    }

    @Test
    void aStopInsideATransactionLosesAndDoublesNothing() throws Exception {
        postgres.execute(CUSTOMERS);
        insertCustomers(1, 1_000);
        long first = snapshot("customers", "churned");
        start(null, "public.customers");
        lake.awaitReady(first);
        lake.awaitStatus("public.customers", "streaming");
        int copied = 100_000;
        try (Connection connection = postgres.connect();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("UPDATE customers SET id = -id WHERE id % 10 = 0");
            statement.execute("DELETE FROM customers WHERE id % 10 = 1");
            copyCustomers(connection, 10_001, 10_000 + copied);
            statement.execute("UPDATE customers SET age = 1 WHERE id = 10001");
            connection.commit();
        }
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> recordsWritten() > 1_000);
        String savepoint = cluster.stopWithSavepoint(Objects.requireNonNull(job), directory.resolve("savepoints"));
        // 100 rows moved, one changed; all were written when the transaction was.
        assertThat(recordsWritten()).isLessThan(1_000 + 101 + copied);
        start(savepoint, "public.customers");
        assertSnapshotEquals(snapshot("customers", "churned"), "public.customers", "customers");
    }

    /** Rows of many to a page, which are one record of the log. */
    private static void copyCustomers(Connection connection, int from, int to) throws Exception {
        StringBuilder rows = new StringBuilder();
        for (int i = from; i <= to; i++) {
            rows.append(i)
                    .append("\t")
                    .append(i % 80)
                    .append("\tbasic\t")
                    .append(i % 1_000)
                    .append(".5\tf\n");
        }
        connection
                .unwrap(PGConnection.class)
                .getCopyAPI()
                .copyIn("COPY customers FROM STDIN", new StringReader(rows.toString()));
    }

    private long recordsWritten() {
        return Long.parseLong(
                lake.table("public.customers").currentSnapshot().summary().get(SnapshotSummary.TOTAL_RECORDS_PROP));
    }

    @Test
    void aSnapshotEndsWhereItsTransactionEnds() throws Exception {
        postgres.execute(
                "CREATE TABLE accounts (id int PRIMARY KEY, balance bigint, label int)",
                "INSERT INTO accounts SELECT i, 1000, i % 3 FROM generate_series(1, 200) i",
                "CREATE TABLE log_lines (id bigint PRIMARY KEY, label int)");
        lakeReadyWith("accounts");
        AtomicBoolean writing = new AtomicBoolean(true);
        Thread writer = new Thread(() -> transfer(writing));
        writer.start();
        List<Long> requests = new ArrayList<>();
        try {
            for (int i = 0; i < 8; i++) {
                try (Connection connection = postgres.connect();
                        var statement = connection.createStatement()) {
                    connection.setAutoCommit(false);
                    // The marker of this transaction; the writer leaves row 1 alone.
                    statement.execute("UPDATE accounts SET label = " + (100 + i) + " WHERE id = 1");
                    try (var row = statement.executeQuery("SELECT snapshot_id FROM ml.snapshot('accounts', 'label')")) {
                        row.next();
                        requests.add(row.getLong(1));
                    }
                    connection.commit();
                }
                Thread.sleep(300);
            }
            for (int i = 0; i < requests.size(); i++) {
                List<@Nullable String> ready = lake.awaitReady(requests.get(i));
                assertSumAndMarker(Long.parseLong(String.valueOf(ready.get(0))), 100 + i);
            }
        } finally {
            writing.set(false);
            writer.join();
        }
    }

    private void lakeReadyWith(String table) throws Exception {
        long first = snapshot(table, "label");
        start(null, "public." + table);
        lake.awaitReady(first);
    }

    /** Moves money between pairs of accounts, in transactions of many statements, as fast as it can. */
    private void transfer(AtomicBoolean writing) {
        try (Connection connection = postgres.connect();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            Random random = new Random(7);
            while (writing.get()) {
                for (int i = 0; i < 20; i++) {
                    int amount = random.nextInt(100);
                    statement.execute("UPDATE accounts SET balance = balance - " + amount + " WHERE id = "
                            + (2 + random.nextInt(199)));
                    statement.execute("UPDATE accounts SET balance = balance + " + amount + " WHERE id = "
                            + (2 + random.nextInt(199)));
                }
                connection.commit();
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void assertSumAndMarker(long icebergSnapshotId, int marker) throws Exception {
        long sum = 0;
        boolean marked = false;
        for (String row : lake.lakeRows("public.accounts", icebergSnapshotId)) {
            String[] values = row.substring(1, row.length() - 1).split(", ", -1);
            sum += Long.parseLong(values[1]);
            marked |= values[0].equals("1") && values[2].equals(Integer.toString(marker));
        }
        assertThat(sum).isEqualTo(200_000);
        assertThat(marked).isTrue();
    }

    private void assertSnapshotEquals(long snapshotId, String lakeTable, String relation) throws Exception {
        List<@Nullable String> ready = lake.awaitReady(snapshotId);
        assertThat(lake.lakeRows(lakeTable, Long.parseLong(String.valueOf(ready.get(0)))))
                .isEqualTo(lake.sourceRows(relation));
    }

    @Test
    void aCrashedDatabaseLosesNothing() throws Exception {
        postgres.execute(CUSTOMERS);
        insertCustomers(1, 2_000);
        long first = snapshot("customers", "churned");
        start(null, "public.customers");
        lake.awaitReady(first);
        insertCustomers(2_001, 2_500);
        postgres.crash();
        postgres.launch();
        postgres.execute("UPDATE customers SET age = 1 WHERE id % 7 = 0", "DELETE FROM customers WHERE id % 11 = 0");
        assertSnapshotEquals(snapshot("customers", "churned"), "public.customers", "customers");
    }

    @Test
    void anIdleTableKeepsNoLog() throws Exception {
        postgres.execute(CUSTOMERS, "CREATE TABLE noise (id int, filler text)");
        insertCustomers(1, 100);
        long first = snapshot("customers", "churned");
        start(null, "public.customers");
        lake.awaitReady(first);
        postgres.execute("INSERT INTO noise SELECT i, repeat('x', 500) FROM generate_series(1, 20000) i");
        String written = String.valueOf(postgres.queryOne("SELECT pg_current_wal_lsn()"));
        Awaitility.await()
                .atMost(Duration.ofMinutes(2))
                .until(() -> "t"
                        .equals(postgres.queryOne("SELECT confirmed_flush_lsn >= '" + written
                                + "'::pg_lsn FROM pg_replication_slots WHERE slot_name = 'millrace'")));
    }

    @Test
    void aJobThatFailsAgainAndAgainKeepsItsConnectionsFew() throws Exception {
        postgres.execute(CUSTOMERS);
        insertCustomers(1, 100);
        long first = snapshot("customers", "churned");
        postgres.execute("REVOKE ALL ON customers FROM ml_worker");
        start(null, "public.customers");
        Awaitility.await()
                .atMost(Duration.ofMinutes(2))
                .ignoreException(FlinkRestException.class)
                .until(() -> restarts() >= 5);
        assertThat(id(postgres.query("SELECT count(*) FROM pg_stat_activity WHERE usename = 'millrace_worker'")))
                .isLessThan(25);
        postgres.execute("GRANT SELECT ON customers TO ml_worker");
        assertSnapshotEquals(first, "public.customers", "customers");
    }

    private long restarts() throws Exception {
        return new FlinkRest(URI.create(cluster.restUri()), Duration.ofSeconds(20)).restarts(String.valueOf(job));
    }
}
