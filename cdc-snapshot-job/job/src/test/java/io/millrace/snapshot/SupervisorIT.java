package io.millrace.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.JobSettings;
import io.millrace.lake.testing.TestingPostgres;
import io.millrace.snapshot.supervise.SupervisorLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SupervisorIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration WRITE_PAUSE = Duration.ofMillis(50);

    @TempDir
    Path directory;

    private TestingCluster cluster;
    private TestingPostgres postgres;
    private TestingLake lake;
    private @Nullable SupervisorLoop loop;
    private @Nullable Thread thread;

    @BeforeEach
    void start() throws Exception {
        cluster = TestingCluster.start(directory);
        postgres = TestingPostgres.startWithMillrace();
        lake = new TestingLake(postgres, directory);
        writeProperties("database", lake.databaseProperties);
        writeProperties("lake", lake.lakeProperties);
        Map<String, String> snapshot = new TreeMap<>();
        snapshot.put("flink-rest-uri", cluster.restUri());
        snapshot.put("job-jar", jobJar().toString());
        snapshot.put("checkpoint-uri", directory.resolve("checkpoints").toUri().toString());
        snapshot.put("savepoint-uri", directory.resolve("savepoints").toUri().toString());
        snapshot.put("state-directory", directory.resolve("state").toString());
        snapshot.put("checkpoint-millis", "500");
        snapshot.put("poll-millis", "200");
        writeProperties("snapshot", snapshot);
        startSupervisor();
    }

    @AfterEach
    void stop() throws Exception {
        stopSupervisor();
        cluster.close();
        lake.close();
        postgres.close();
    }

    private void writeProperties(String name, Map<String, String> values) throws IOException {
        Path conf = Files.createDirectories(directory.resolve("conf"));
        List<String> lines = values.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .toList();
        Files.write(conf.resolve(name + ".properties"), lines);
    }

    private static Path jobJar() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("target"))) {
            return files.filter(file -> file.toString().endsWith("-job.jar"))
                    .findFirst()
                    .orElseThrow()
                    .toAbsolutePath();
        }
    }

    private void startSupervisor() {
        SupervisorLoop running = SupervisorLoop.of(
                JobSettings.parse("--conf", directory.resolve("conf").toString()));
        loop = running;
        thread = new Thread(running::run, "supervisor");
        thread.start();
    }

    private void stopSupervisor() throws InterruptedException {
        if (loop != null && thread != null) {
            loop.stop();
            thread.interrupt();
            thread.join();
        }
    }

    private long snapshot(String relation, String label) {
        return Long.parseLong(String.valueOf(
                postgres.query("SELECT snapshot_id FROM ml.snapshot('" + relation + "', '" + label + "')")
                        .get(0)
                        .get(0)));
    }

    private void assertSnapshotEqualsTable(long snapshotId, String lakeTable, String relation) throws Exception {
        List<@Nullable String> ready = lake.awaitReady(snapshotId);
        assertThat(lake.lakeRows(lakeTable, Long.parseLong(String.valueOf(ready.get(0)))))
                .isEqualTo(lake.sourceRows(relation));
    }

    private String slotCount() {
        return String.valueOf(postgres.query("SELECT count(*) FROM pg_replication_slots")
                .get(0)
                .get(0));
    }

    @Test
    void followsTheListOfCapturedTables() throws Exception {
        postgres.execute(
                "CREATE TABLE one (id int PRIMARY KEY, a float8, label boolean)",
                "INSERT INTO one SELECT i, i * 0.5, i % 2 = 0 FROM generate_series(1, 500) i",
                "CREATE TABLE two (id int PRIMARY KEY, b text, label boolean)",
                "INSERT INTO two SELECT i, 'text ' || i, i % 3 = 0 FROM generate_series(1, 700) i",
                "CREATE TABLE veiled (id int PRIMARY KEY, a int, label boolean)",
                "ALTER TABLE veiled ENABLE ROW LEVEL SECURITY");
        assertThat(lake.awaitSettled(snapshot("veiled", "label")).get(1))
                .isEqualTo(
                        "table is not captured: row-level security hides rows from the change job, its role must have"
                                + " BYPASSRLS: relation=public.veiled");
        assertSnapshotEqualsTable(snapshot("one", "label"), "public.one", "one");
        lake.awaitStatus("public.one", "streaming");

        postgres.execute("INSERT INTO one VALUES (1001, 1, true)");
        long second = snapshot("two", "label");
        postgres.execute("UPDATE one SET a = a + 1 WHERE id < 10", "DELETE FROM two WHERE id = 5");
        lake.awaitReady(second);
        lake.awaitStatus("public.two", "streaming");
        assertSnapshotEqualsTable(snapshot("one", "label"), "public.one", "one");
        assertSnapshotEqualsTable(snapshot("two", "label"), "public.two", "two");

        // The first job's savepoint and checkpoints are of no use any more.
        Awaitility.await().atMost(LIMIT).until(() -> jobsWithState().size() == 1);

        postgres.execute("DROP TABLE two");
        lake.awaitStatus("public.two", "failed");
        postgres.execute("DELETE FROM one WHERE id = 3");
        assertSnapshotEqualsTable(snapshot("one", "label"), "public.one", "one");
        dropTableWhileItIsLoaded();

        postgres.execute("SELECT ml.release_table('one')");
        Awaitility.await().atMost(LIMIT).until(() -> slotCount().equals("0"));
        Awaitility.await().atMost(LIMIT).until(() -> jobsWithState().isEmpty());
    }

    private void dropTableWhileItIsLoaded() throws Exception {
        postgres.execute(
                "CREATE TABLE three (id int PRIMARY KEY, a int, label int)",
                "INSERT INTO three SELECT i, i, i % 3 FROM generate_series(1, 1000) i");
        long request = snapshot("three", "label");
        lake.awaitStatus("public.three", "loading");
        postgres.execute("DROP TABLE three", "DELETE FROM one WHERE id = 4");
        lake.awaitStatus("public.three", "failed");
        assertThat(lake.awaitSettled(request).subList(0, 2))
                .containsExactly(
                        "failed", "table is not captured: table was dropped or renamed: relation=public.three");
        assertSnapshotEqualsTable(snapshot("one", "label"), "public.one", "one");
    }

    /** Names of the directories in which jobs have left checkpoints or savepoints. */
    private Set<String> jobsWithState() throws IOException {
        Set<String> jobs = new TreeSet<>();
        for (String kind : List.of("checkpoints", "savepoints")) {
            Path states = directory.resolve(kind);
            if (Files.exists(states)) {
                try (Stream<Path> entries = Files.list(states)) {
                    entries.forEach(entry -> jobs.add(entry.getFileName().toString()));
                }
            }
        }
        return jobs;
    }

    @Test
    void aTableThatIsMadeAnewWhileTheJobStartsIsLoaded() throws Exception {
        postgres.execute(
                "CREATE TABLE stays (id int PRIMARY KEY, a float8, label boolean)",
                "INSERT INTO stays SELECT i, i * 0.5, i % 2 = 0 FROM generate_series(1, 100) i",
                "CREATE TABLE anew (id int PRIMARY KEY, b text, label boolean)",
                "INSERT INTO anew SELECT i, 'text ' || i, i % 3 = 0 FROM generate_series(1, 100) i");
        assertSnapshotEqualsTable(snapshot("stays", "label"), "public.stays", "stays");
        assertSnapshotEqualsTable(snapshot("anew", "label"), "public.anew", "anew");
        lake.awaitStatus("public.anew", "streaming");

        postgres.execute("DROP TABLE anew");
        Path state = directory.resolve("state").resolve("supervisor.json");
        Awaitility.await()
                .atMost(LIMIT)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> !Files.readString(state).contains("public.anew"));
        // The job without the table is submitted now, and takes a second or two until it runs.
        postgres.execute(
                "CREATE TABLE anew (id int PRIMARY KEY, b text, label boolean)",
                "INSERT INTO anew SELECT i, 'other ' || i, i % 3 = 0 FROM generate_series(1, 50) i");
        assertSnapshotEqualsTable(snapshot("anew", "label"), "public.anew", "anew");
        assertSnapshotEqualsTable(snapshot("stays", "label"), "public.stays", "stays");
    }

    @Test
    void tablesThatComeAndGoUnderLoadLoseAndDoubleNothing() throws Exception {
        postgres.execute(
                "CREATE TABLE one (id int PRIMARY KEY, a float8, label int)",
                "INSERT INTO one SELECT i, i, i % 3 FROM generate_series(1, 5000) i",
                "CREATE TABLE two (id int PRIMARY KEY, b text, label int)",
                "INSERT INTO two SELECT i, 'text ' || i, i % 3 FROM generate_series(1, 30000) i");
        lake.awaitReady(snapshot("one", "label"));
        lake.awaitStatus("public.one", "streaming");
        AtomicBoolean writing = new AtomicBoolean(true);
        Thread writer = new Thread(() -> write(writing));
        writer.start();
        try {
            lake.awaitReady(snapshotWhileSomebodyWrites());
            lake.awaitStatus("public.two", "streaming");
            lake.awaitReady(snapshot("one", "label"));
        } finally {
            writing.set(false);
            writer.join();
        }
        assertSnapshotEqualsTable(snapshot("one", "label"), "public.one", "one");
        assertSnapshotEqualsTable(snapshot("two", "label"), "public.two", "two");

        postgres.execute("TRUNCATE one", "INSERT INTO one VALUES (7, 7, 7), (8, 8, 8)");
        assertSnapshotEqualsTable(snapshot("one", "label"), "public.one", "one");
        postgres.execute("DELETE FROM two WHERE id < 10");
        assertSnapshotEqualsTable(snapshot("two", "label"), "public.two", "two");
    }

    /** The log leaves out what a transaction wrote before the table was published, so the capture waits for it. */
    private long snapshotWhileSomebodyWrites() throws Exception {
        postgres.execute("ALTER TABLE two REPLICA IDENTITY FULL");
        try (Connection writer = postgres.connect();
                Statement statement = writer.createStatement()) {
            writer.setAutoCommit(false);
            statement.execute("INSERT INTO two VALUES (90001, 'from before', 1)");
            CompletableFuture<Long> request = CompletableFuture.supplyAsync(() -> snapshot("two", "label"));
            Awaitility.await()
                    .atMost(LIMIT)
                    .until(() -> !"0"
                            .equals(postgres.queryOne("SELECT count(*) FROM pg_locks WHERE NOT granted"
                                    + " AND relation = 'two'::regclass AND mode = 'ShareRowExclusiveLock'")));
            statement.execute("INSERT INTO two VALUES (90002, 'and after', 1)");
            writer.commit();
            return request.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void aTableWithOtherColumnsIsLoadedAgain() throws Exception {
        postgres.execute(
                "CREATE TABLE one (id int PRIMARY KEY, a int, b text, n numeric(4,1), label int)",
                "INSERT INTO one SELECT i, i, 'b' || i, i % 100, i % 3 FROM generate_series(1, 300) i");
        long first = snapshot("one", "label");
        List<@Nullable String> before = lake.awaitReady(first);
        List<String> rowsBefore = lake.sourceRows("one");
        lake.awaitStatus("public.one", "streaming");

        // Nobody has changed a row since, but every row has the new column.
        postgres.execute("ALTER TABLE one ADD COLUMN kind int DEFAULT 5");
        assertSnapshotEqualsTable(snapshot("one", "label"), "public.one", "one");
        lake.awaitStatus("public.one", "streaming");

        // Types change, and the log tells first.
        postgres.execute(
                "ALTER TABLE one ALTER COLUMN a TYPE bigint, ALTER COLUMN n TYPE numeric(8,3), DROP COLUMN kind",
                "UPDATE one SET a = 5000000000, n = 12345.678 WHERE id = 1");
        assertSnapshotEqualsTable(snapshot("one", "label"), "public.one", "one");
        lake.awaitStatus("public.one", "streaming");

        // The lake's type stays the same, but no value does, and the log says nothing.
        postgres.execute("ALTER TABLE one ALTER COLUMN b TYPE varchar(8) USING upper(b)");
        assertSnapshotEqualsTable(snapshot("one", "label"), "public.one", "one");
        assertThat(before.get(1)).isEqualTo("300");
        assertThat(rowsBefore).hasSize(300);
        assertThat(postgres.query("SELECT count(*) FROM ml.snapshots WHERE status <> 'ready'"))
                .containsExactly(List.of("0"));
    }

    /** Inserts, updates and deletes in both tables, a transaction at a time. */
    private void write(AtomicBoolean writing) {
        int key = 100_000;
        while (writing.get()) {
            int from = key;
            key += 10;
            int digit = key / 10 % 50;
            postgres.execute(
                    "INSERT INTO one SELECT i, 0, 0 FROM generate_series(" + from + ", " + (key - 1) + ") i",
                    "INSERT INTO two SELECT i, 'new', 0 FROM generate_series(" + from + ", " + (key - 1) + ") i",
                    "UPDATE one SET a = a + 1 WHERE id % 50 = " + digit,
                    "UPDATE two SET b = b || '.' WHERE id % 500 = " + digit,
                    "DELETE FROM two WHERE id % 1000 = " + digit);
            // Without a pause a slow machine gets more to do than a fast one, since the loads that this runs beside
            // take longer.
            LockSupport.parkNanos(WRITE_PAUSE.toNanos());
        }
    }

    @Test
    void continuesWithoutSupervisorAfterALostClusterAndAfterALostSlot() throws Exception {
        postgres.execute(
                "CREATE TABLE one (id int PRIMARY KEY, a float8, label boolean)",
                "INSERT INTO one SELECT i, i * 0.5, i % 2 = 0 FROM generate_series(1, 500) i");
        assertSnapshotEqualsTable(snapshot("one", "label"), "public.one", "one");
        lake.awaitStatus("public.one", "streaming");
        stopSupervisor();
        postgres.execute("UPDATE one SET a = -1 WHERE id < 100");
        assertSnapshotEqualsTable(snapshot("one", "label"), "public.one", "one");

        cluster.close();
        postgres.execute("DELETE FROM one WHERE id < 50", "INSERT INTO one VALUES (2000, 2, false)");
        cluster = TestingCluster.start(directory);
        writeFlinkUri();
        startSupervisor();
        assertSnapshotEqualsTable(snapshot("one", "label"), "public.one", "one");
        lake.awaitStatus("public.one", "streaming");

        dropSlot();
        postgres.execute("DELETE FROM one WHERE id < 200", "INSERT INTO one VALUES (3000, 3, false)");
        Awaitility.await()
                .atMost(LIMIT)
                .pollInterval(Duration.ofMillis(50))
                .until(() -> "replication slot was dropped or invalidated, every table is loaded again: slot=millrace"
                        .equals(postgres.queryOne("SELECT error FROM ml.captured_tables")));
        assertSnapshotEqualsTable(snapshot("one", "label"), "public.one", "one");
        lake.awaitStatus("public.one", "streaming");
        assertThat(postgres.queryOne("SELECT error FROM ml.captured_tables")).isNull();
    }

    /** As an administrator does who needs the space of the log. */
    private void dropSlot() {
        Awaitility.await()
                .atMost(LIMIT)
                .pollInterval(Duration.ofMillis(10))
                .ignoreExceptions()
                .until(() -> {
                    postgres.execute("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active");
                    postgres.execute(
                            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active");
                    return slotCount().equals("0");
                });
    }

    private void writeFlinkUri() throws Exception {
        Path file = directory.resolve("conf/snapshot.properties");
        List<String> lines = Files.readAllLines(file).stream()
                .map(line -> line.startsWith("flink-rest-uri=") ? "flink-rest-uri=" + restUri() : line)
                .toList();
        Files.write(file, lines);
    }

    private String restUri() {
        try {
            return cluster.restUri();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
