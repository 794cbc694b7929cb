package io.millrace.train.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.millrace.contract.ConfigFile;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.jobs.DatabaseConnections;
import io.millrace.lake.CapturedTable;
import io.millrace.lake.FitRequest;
import io.millrace.lake.FittedStore;
import io.millrace.lake.Fitter;
import io.millrace.lake.Lake;
import io.millrace.lake.LakeConfig;
import io.millrace.lake.testing.TestingMirror;
import io.millrace.lake.testing.TestingPostgres;
import io.millrace.lake.testing.TestingTable;
import io.millrace.train.TrainConfig;
import io.millrace.train.testing.TestingConf;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MetricOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.iceberg.DataFile;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/** A database with the extension, a lake with snapshots, a Flink cluster and a configuration directory: all but a gateway. */
final class TestingPlatform implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private static final List<String> FINAL = List.of("succeeded", "failed", "cancelled");

    private final TestingPostgres postgres;
    private final MiniCluster cluster;
    private final TestingConf conf;
    private final Lake lake;
    /** The cluster counts the stopped ones too. */
    private int taskManagersStopped;

    private TestingPlatform(Path directory, TestingPostgres postgres, MiniCluster cluster) throws Exception {
        this.postgres = postgres;
        this.cluster = cluster;
        this.conf = TestingConf.write(directory.resolve("conf"), directory);
        conf.train(cluster.getRestAddress().get().toString(), directory);
        Map<String, String> database = postgres.databaseProperties(TestingPostgres.WORKER);
        Files.write(
                conf.directory().resolve("database.properties"),
                database.entrySet().stream()
                        .map(entry -> entry.getKey() + "=" + entry.getValue())
                        .toList());
        Files.writeString(
                conf.directory().resolve("lake.properties"),
                "warehouse-uri=" + directory.resolve("warehouse").toUri() + "\n");
        this.lake = Lake.open(LakeConfig.from(
                ConfigFile.read(conf.directory().resolve("lake.properties")),
                ConfigFile.read(conf.directory().resolve("database.properties"))));
    }

    static TestingPlatform start(Path directory) throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(RestOptions.BIND_PORT, "0");
        configuration.set(WebOptions.UPLOAD_DIR, directory.resolve("jars").toString());
        configuration.set(JobManagerOptions.SLOT_REQUEST_TIMEOUT, Duration.ofSeconds(3));
        configuration.set(MetricOptions.METRIC_FETCHER_UPDATE_INTERVAL, Duration.ofMillis(200));
        MiniCluster cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(2)
                .build());
        cluster.start();
        return new TestingPlatform(directory, TestingPostgres.startWithMillrace(), cluster);
    }

    TestingPostgres postgres() {
        return postgres;
    }

    Path conf() {
        return conf.directory();
    }

    /** The demo's table in the database. */
    void createChurn() throws SQLException, IOException {
        Path file = Path.of("..", "scripts", "demo.d", "churn.csv");
        String header = Files.readAllLines(file).get(0);
        List<String> texts = List.of("state", "area_code", "international_plan", "voice_mail_plan", "churn");
        String columns = Stream.of(header.replace("\"", "").split(",", -1))
                .map(name -> name + (texts.contains(name) ? " text" : " double precision"))
                .collect(Collectors.joining(", "));
        postgres.execute("CREATE TABLE churn (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, " + columns + ")");
        try (var connection = postgres.connect();
                var in = Files.newBufferedReader(file)) {
            connection
                    .unwrap(PGConnection.class)
                    .getCopyAPI()
                    .copyIn("COPY churn (" + header + ") FROM STDIN (FORMAT csv, HEADER)", in);
        }
    }

    /** Brings a table into the lake as the change job would, and makes a snapshot of it that is ready. */
    long snapshot(String name, String label) {
        return snapshot(name, label, 1);
    }

    /** The same whose rows are there several times, so that an export takes long; only to be read, not to be trained on. */
    long snapshot(String name, String label, int copies) {
        CapturedTable source = TestingMirror.describe(postgres, "public", name);
        TestingTable table = new TestingTable(lake.createTable(source));
        DataFile file = table.append(TestingMirror.rows(postgres, source, table));
        String lakeTable = "public." + name;
        postgres.execute(
                "INSERT INTO ml.captured_tables (relation, relid, schema_name, table_name, key_columns, columns,"
                        + " prior_replica_identity, lake_table, status, requested_by) VALUES ('public." + name + "', '"
                        + name
                        + "'::regclass, 'public', '" + name + "', '{id}', '[]', 'd', '" + lakeTable
                        + "', 'streaming', current_user) ON CONFLICT DO NOTHING");
        long snapshotId = unreadySnapshot(name, label, "loading", null);
        FittedPreprocessing fitted = new Fitter()
                .fit(
                        table.table(),
                        table.snapshotId(),
                        new FitRequest(
                                snapshotId, label, List.of("id"), null, null, JsonNodeFactory.instance.objectNode()));
        if (copies > 1) {
            table.appendAgain(file, copies - 1);
        }
        FittedStore.write(table.table(), table.snapshotId(), snapshotId, fitted);
        postgres.execute("UPDATE ml.snapshots SET status = 'ready', iceberg_snapshot_id = " + table.snapshotId()
                + ", fitted_id = '" + fitted.fittedId() + "', rows = (SELECT count(*) FROM " + name
                + ") WHERE snapshot_id = " + snapshotId);
        return snapshotId;
    }

    long unreadySnapshot(String name, String label, String status, @Nullable String error) {
        return number("INSERT INTO ml.snapshots (relation, y_column_name, test_size, test_sampling, key_columns, owner,"
                + " status, error) VALUES ('public." + name + "', '" + label + "', 0.25, 'stratified', '{id}',"
                + " current_user, '" + status + "', " + (error == null ? "NULL" : "'" + error + "'")
                + ") RETURNING snapshot_id");
    }

    /** Queues a run of the project of that name. */
    long queue(String project, long snapshotId, String hyperparams) {
        return number("WITH p AS (INSERT INTO ml.projects (name, task, owner) VALUES ('" + project.replace("'", "''")
                + "', 'classification', current_user) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING"
                + " project_id) INSERT INTO ml.runs (project_id, snapshot_id, algorithm, task, hyperparams, test_size,"
                + " test_sampling, owner) SELECT project_id, " + snapshotId + ", 'xgboost', 'classification', '"
                + hyperparams + "', 0.25, 'stratified', current_user FROM p RETURNING run_id");
    }

    void cancel(long runId) {
        postgres.execute("SELECT ml.cancel_run(" + runId + ")");
    }

    String status(long runId) {
        return text("status", runId);
    }

    /** A column of the run's row as text. */
    String text(String column, long runId) {
        return String.valueOf(postgres.queryOne("SELECT " + column + "::text FROM ml.runs WHERE run_id = " + runId));
    }

    long number(String sql) {
        return Long.parseLong(String.valueOf(postgres.queryOne(sql)));
    }

    /** Waits for one of some statuses; fails with the run's row when another final one comes. */
    String await(long runId, String... wanted) {
        List<String> accepted = List.of(wanted);
        Awaitility.await()
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(50))
                .until(() -> accepted.contains(status(runId)) || FINAL.contains(status(runId)));
        assertThat(accepted)
                .as(() -> postgres.queryOne("SELECT r::text FROM ml.runs r WHERE run_id = " + runId))
                .contains(status(runId));
        return status(runId);
    }

    /** Children that train at this moment. */
    static List<ProcessHandle> children() {
        return ProcessHandle.current()
                .descendants()
                .filter(process ->
                        process.info().commandLine().orElse("").contains("io.millrace.train.child.TrainChildMain"))
                .toList();
    }

    void replaceTaskManager() throws Exception {
        stopTaskManager();
        startTaskManager();
    }

    void stopTaskManager() throws Exception {
        cluster.terminateTaskManager(taskManagersStopped++).get();
    }

    void startTaskManager() throws Exception {
        cluster.startTaskManager();
    }

    TrainConfig trainConfig() {
        return conf.trainConfig();
    }

    /** Server processes of the connections that the worker role has open. */
    Set<String> workerConnections() {
        return postgres
                .query("SELECT pid || ' ' || backend_start FROM pg_stat_activity WHERE usename = '"
                        + TestingPostgres.WORKER + "'")
                .stream()
                .map(row -> String.valueOf(row.get(0)))
                .collect(Collectors.toSet());
    }

    /** From now on a deployment is only its row: stands in for the gateway, which alone can load a model. */
    void deployWithoutGateway() {
        postgres.execute(
                "CREATE OR REPLACE FUNCTION ml.deploy(model_id bigint) RETURNS TABLE (project text, strategy text,"
                        + " algorithm text, model_id bigint) LANGUAGE sql VOLATILE SECURITY DEFINER AS $$ INSERT INTO"
                        + " ml.deployments (project_id, model_id, strategy, deployed_by) SELECT m.project_id, m.model_id,"
                        + " 'specific', current_user FROM ml.models m WHERE m.model_id = $1 RETURNING 'p', 'specific',"
                        + " 'xgboost', $1 $$");
    }

    /** A dispatcher in a thread of this process. */
    RunningDispatcher dispatch() {
        return dispatch(conf.trainConfig());
    }

    /** The same that asks for the cluster elsewhere. */
    RunningDispatcher dispatch(URI flinkRestUri) throws IOException {
        return dispatch(conf.trainConfig(flinkRestUri));
    }

    private RunningDispatcher dispatch(TrainConfig config) {
        DatabaseConnections connections =
                DatabaseConnections.from(ConfigFile.read(conf.directory().resolve("database.properties")));
        return new RunningDispatcher(new RunDispatcher(conf.directory(), config, connections));
    }

    @Override
    public void close() {
        lake.close();
        cluster.closeAsync().join();
        postgres.close();
    }

    /** A dispatcher that ends with the test. */
    static final class RunningDispatcher implements AutoCloseable {
        private final RunDispatcher dispatcher;
        private final Thread thread;

        private RunningDispatcher(RunDispatcher dispatcher) {
            this.dispatcher = dispatcher;
            this.thread = new Thread(
                    () -> {
                        try {
                            dispatcher.run();
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                    },
                    "testing-dispatcher");
            thread.start();
        }

        @Override
        public void close() {
            thread.interrupt();
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            dispatcher.close();
        }
    }
}
