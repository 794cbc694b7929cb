package io.millrace.train.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.train.RunDispatcherMain;
import io.millrace.train.dispatch.TestingPlatform.RunningDispatcher;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs from the queue to their end, over a real database, lake, Flink cluster and child JVM. */
@SuppressWarnings("try") // a dispatcher works by being there
class RunDispatcherIT {
    private static final String SHORT = "{\"n_estimators\": 5}";
    private static final String ENDLESS = "{\"n_estimators\": 100000}";
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    private static Path directory;

    private static TestingPlatform platform;
    private static long churn;

    @BeforeAll
    static void startPlatform() throws Exception {
        platform = TestingPlatform.start(directory);
        platform.createChurn();
        churn = platform.snapshot("churn", "churn");
        platform.postgres()
                .execute(
                        "CREATE TABLE long (id bigint PRIMARY KEY, a float8, b float8, y text)",
                        "INSERT INTO long SELECT i, sin(i), cos(i), CASE WHEN sin(i) > 0.3 THEN 'up' ELSE 'down' END"
                                + " FROM generate_series(1, 400000) i");
    }

    @AfterAll
    static void stopPlatform() {
        platform.close();
    }

    @AfterEach
    void leavesNoChild() {
        Awaitility.await().atMost(SOON).until(() -> TestingPlatform.children().isEmpty());
    }

    @Test
    void trainsWhatIsQueued() throws Exception {
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long run = platform.queue("churn 'quoted' 🙂", churn, "{}");
            platform.await(run, "succeeded");
            JsonNode metrics = new ObjectMapper().readTree(platform.text("metrics", run));
            // How good models are is measured over many splits elsewhere; this one only has to have learned.
            assertThat(metrics.path("auc").asDouble()).isGreaterThan(0.8);
            assertThat(metrics.path("train-rows").asLong()
                            + metrics.path("test-rows").asLong())
                    .isEqualTo(5_000);
            assertThat(metrics.path("test-rows").asLong()).isEqualTo(1_250);
            assertThat(metrics.path("learning-curve")).hasSize(100);
            assertThat(metrics.path("peak-anonymous-bytes").asLong()).isPositive();
            assertThat(platform.text("progress", run)).isEqualTo("1");
            assertThat(platform.text("attempt", run)).isEqualTo("1");
            String model = "SELECT count(*) FROM ml.models WHERE run_id = " + run
                    + " AND uri LIKE 'store:postgres-%' AND labels = '{no,yes}' AND bytes > 0 AND fitted_id IS NOT NULL";
            assertThat(platform.number(model)).isEqualTo(1);
            // There is no gateway here: the model is there, and the run says why it is not deployed.
            assertThat(metrics.path("deployed").asBoolean(true)).isFalse();
            assertThat(metrics.path("deploy-error").asText()).isNotEmpty();
        }
    }

    @Test
    void usesTheSameMatrixForTheNextRun() throws Exception {
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            platform.await(platform.queue("cached", churn, SHORT), "succeeded");
            List<Path> before = matrices();
            long second = platform.queue("cached", churn, SHORT);
            platform.await(second, "succeeded");
            assertThat(matrices()).isEqualTo(before);
            assertThat(platform.text("metrics->>'test-rows'", second)).isEqualTo("1250");
            try (var scratch = Files.list(directory.resolve("matrix/scratch"))) {
                assertThat(scratch)
                        .noneMatch(path -> path.getFileName().toString().startsWith("run-" + second + "-"));
            }
        }
    }

    private static List<Path> matrices() throws Exception {
        try (var files = Files.list(directory.resolve("matrix/matrices"))) {
            return files.sorted().toList();
        }
    }

    @Test
    void waitsForTheSnapshotAndFailsWithItsReason() throws Exception {
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long snapshot = platform.unreadySnapshot("churn", "churn", "loading", null);
            long run = platform.queue("waiting", snapshot, SHORT);
            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> platform.text("phase", run).equals("waiting for snapshot " + snapshot + " (loading)"));
            platform.postgres()
                    .execute("UPDATE ml.snapshots SET status = 'failed', error = 'disk full' WHERE snapshot_id = "
                            + snapshot);
            platform.await(run, "failed");
            assertThat(platform.text("error", run)).isEqualTo("snapshot failed: disk full");
        }
    }

    @Test
    void cancelsInTheQueue() throws Exception {
        long snapshot = platform.unreadySnapshot("churn", "churn", "loading", null);
        long run = platform.queue("cancelled early", snapshot, SHORT);
        platform.cancel(run);
        assertThat(platform.status(run)).isEqualTo("cancelled");
    }

    @Test
    void cancelsWhileExporting() throws Exception {
        long snapshot = platform.snapshot("long", "y");
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long run = platform.queue("exporting", snapshot, SHORT);
            platform.await(run, "exporting");
            platform.cancel(run);
            platform.await(run, "cancelled");
            assertThat(platform.number("SELECT count(*) FROM ml.models WHERE run_id = " + run))
                    .isZero();
        }
    }

    @Test
    void cancelsWhileTrainingAndKillsTheChild() throws Exception {
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long run = platform.queue("training", churn, ENDLESS);
            platform.await(run, "training");
            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> platform.text("phase", run).matches("round \\d+ of 100000, train logloss 0\\.\\d+"));
            platform.cancel(run);
            platform.await(run, "cancelled");
            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> TestingPlatform.children().isEmpty());
        }
    }

    @Test
    void deploysOnlyWhatIsBetterThanTheDeployedModel() throws Exception {
        String deploy = platform.postgres().queryOne("SELECT pg_get_functiondef('ml.deploy(bigint)'::regprocedure)");
        // Stands in for the gateway, which alone can load a model: a deployment is then only its row.
        platform.postgres()
                .execute(
                        "CREATE OR REPLACE FUNCTION ml.deploy(model_id bigint) RETURNS TABLE (project text, strategy text,"
                                + " algorithm text, model_id bigint) LANGUAGE sql VOLATILE SECURITY DEFINER AS $$ INSERT INTO"
                                + " ml.deployments (project_id, model_id, strategy, deployed_by) SELECT m.project_id, m.model_id,"
                                + " 'specific', current_user FROM ml.models m WHERE m.model_id = $1 RETURNING 'p', 'specific',"
                                + " 'xgboost', $1 $$");
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long good = platform.queue("better", churn, "{\"n_estimators\": 20}");
            platform.await(good, "succeeded");
            assertThat(platform.text("phase", good)).isEqualTo("succeeded and deployed");
            long weak = platform.queue("better", churn, "{\"n_estimators\": 1, \"max_depth\": 1}");
            platform.await(weak, "succeeded");
            assertThat(platform.text("phase", weak))
                    .matches("succeeded, not deployed: f1 0\\.\\d+ is not above the deployed 0\\.\\d+");
            assertThat(platform.text("metrics->>'deployed'", weak)).isEqualTo("false");
            String deployed =
                    "SELECT count(*) FROM ml.deployments d JOIN ml.models m USING (model_id) WHERE m.run_id IN (" + good
                            + ", " + weak + ") AND m.run_id <> " + weak;
            assertThat(platform.number(deployed)).isOne();
        } finally {
            platform.postgres().execute(String.valueOf(deploy));
        }
    }

    @Test
    void endsTheJobOfARunThatWasDropped() throws Exception {
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long run = platform.queue("dropped", churn, ENDLESS);
            platform.await(run, "training");
            platform.postgres().execute("DELETE FROM ml.projects WHERE name = 'dropped'");
            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> TestingPlatform.children().isEmpty());
        }
    }

    @Test
    void triesAgainOnceWhenTheChildIsKilled() throws Exception {
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long run = platform.queue("killed", churn, ENDLESS);
            for (int attempt = 1; attempt <= 2; attempt++) {
                int expected = attempt;
                Awaitility.await()
                        .atMost(SOON.multipliedBy(4))
                        .until(() -> platform.text("attempt", run).equals("" + expected)
                                && platform.status(run).equals("training")
                                && !TestingPlatform.children().isEmpty());
                TestingPlatform.children().forEach(ProcessHandle::destroyForcibly);
            }
            platform.await(run, "failed");
            assertThat(platform.text("error", run)).startsWith("training process was killed: signal=9, phase=");
            assertThat(platform.text("attempt", run)).isEqualTo("2");
        }
    }

    @Test
    void survivesTheLossOfTheTaskManager() throws Exception {
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long run = platform.queue("task manager", churn, "{\"n_estimators\": 1500}");
            platform.await(run, "training");
            platform.replaceTaskManager();
            platform.await(run, "succeeded");
            assertThat(platform.text("attempt", run)).isEqualTo("2");
            assertThat(platform.number("SELECT count(*) FROM ml.models WHERE run_id = " + run))
                    .isOne();
        }
    }

    @Test
    void doesNotTryAgainWhatCannotSucceed() throws Exception {
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long run = platform.queue("refused", churn, "{\"max_dept\": 3}");
            platform.await(run, "failed");
            assertThat(platform.text("error", run))
                    .isEqualTo("hyper-parameter must be one the algorithm has: algorithm=xgboost, name=max_dept,"
                            + " nearest=max_depth");
            assertThat(platform.text("attempt", run)).isEqualTo("1");
        }
    }

    @Test
    void anotherDispatcherFinishesWhatAKilledOneBegan() throws Exception {
        Process killed = dispatcherProcess();
        long run;
        try {
            run = platform.queue("orphan", churn, "{\"n_estimators\": 1500}");
            platform.await(run, "training");
        } finally {
            killed.destroyForcibly().waitFor();
        }
        String job = platform.text("flink_job_id", run);
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            platform.await(run, "succeeded");
        }
        assertThat(platform.text("flink_job_id", run)).isEqualTo(job);
        assertThat(platform.text("attempt", run)).isEqualTo("1");
        assertThat(platform.number("SELECT count(*) FROM ml.models WHERE run_id = " + run))
                .isOne();
    }

    @Test
    void recordsAFinishedJobOnce() throws Exception {
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long run = platform.queue("recorded", churn, SHORT);
            platform.await(run, "succeeded");
            String model = platform.text("model_id", run);
            // As if the dispatcher had died between the job's end and its record.
            platform.postgres()
                    .execute(
                            "UPDATE ml.runs SET status = 'publishing', model_id = NULL, lease_until = now(), lease_owner ="
                                    + " 'dead' WHERE run_id = " + run);
            platform.await(run, "succeeded");
            assertThat(platform.text("model_id", run)).isEqualTo(model);
        }
    }

    @Test
    void survivesARestartOfTheDatabase() throws Exception {
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long run = platform.queue("restart", churn, "{\"n_estimators\": 500}");
            platform.await(run, "training");
            platform.postgres().crash();
            platform.postgres().launch();
            platform.await(run, "succeeded");
            assertThat(platform.text("attempt", run)).isEqualTo("1");
        }
    }

    private static Process dispatcherProcess() throws Exception {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        RunDispatcherMain.class.getName(),
                        "--conf",
                        platform.conf().toString())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("dispatcher.log").toFile())
                .start();
    }
}
