package io.millrace.train.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.jobs.FlinkRest;
import io.millrace.jobs.JobState;
import io.millrace.train.RunDispatcherMain;
import io.millrace.train.dispatch.TestingPlatform.RunningDispatcher;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs from the queue to their end, over a real database, lake, Flink cluster and child JVM. */
@SuppressWarnings("try") // a dispatcher works by being there
class RunDispatcherIT {
    private static final Logger LOG = LoggerFactory.getLogger(RunDispatcherIT.class);
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
                                + " FROM generate_series(1, 100000) i");
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
            assertThat(scratch(second)).isEmpty();
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
        long snapshot = platform.snapshot("long", "y", 40);
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long run = platform.queue("exporting", snapshot, SHORT);
            platform.await(run, "exporting");
            cancel(run, "exporting");
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
            cancel(run, "training");
        }
    }

    /** What a cancelled run had on disk, in processes and in the cluster ends with it, or at once after it. */
    private static void cancel(long run, String phase) throws Exception {
        String asked = String.valueOf(platform.postgres().queryOne("SELECT clock_timestamp()"));
        platform.cancel(run);
        platform.await(run, "cancelled");
        FlinkRest flink = new FlinkRest(platform.trainConfig().flinkRestUri(), SOON);
        String job = platform.text("flink_job_id", run);
        Awaitility.await()
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> flink.state(job).equals(Optional.of(JobState.CANCELED))
                        && TestingPlatform.children().isEmpty()
                        && scratch(run).isEmpty());
        LOG.info(
                "cancel: phase={}, recordedSeconds={}, everythingEndedSeconds={}",
                phase,
                platform.text("extract(epoch FROM finished_at - '" + asked + "')", run),
                platform.text("extract(epoch FROM clock_timestamp() - '" + asked + "')", run));
    }

    private static List<Path> scratch(long run) throws Exception {
        try (var files = Files.list(directory.resolve("matrix/scratch"))) {
            return files.filter(path -> path.getFileName().toString().startsWith("run-" + run + "-"))
                    .toList();
        }
    }

    @Test
    void holdsOutTheRowsOfLargestKey() throws Exception {
        long run = platform.queue("last", churn, SHORT);
        platform.postgres().execute("UPDATE ml.runs SET test_sampling = 'last' WHERE run_id = " + run);
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            platform.await(run, "succeeded");
        }
        String uri = String.valueOf(platform.postgres().queryOne("SELECT uri FROM ml.models WHERE run_id = " + run));
        List<String> evaluation = Files.readAllLines(stored(uri).resolve("evaluation.csv"));
        List<Integer> held = evaluation.stream()
                .skip(1)
                .map(line -> Integer.valueOf(line.substring(0, line.indexOf(','))))
                .sorted()
                .toList();
        assertThat(held).isEqualTo(IntStream.rangeClosed(3_751, 5_000).boxed().toList());
    }

    @Test
    void deletesPackagesThatNoModelRefersTo() throws Exception {
        long cancelled = platform.queue("leftovers", churn, SHORT);
        platform.postgres()
                .execute("UPDATE ml.runs SET status = 'cancelled', attempt = 2, finished_at = now() WHERE run_id = "
                        + cancelled);
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long kept = platform.queue("leftovers", churn, SHORT);
            platform.await(kept, "succeeded");
            String uri =
                    String.valueOf(platform.postgres().queryOne("SELECT uri FROM ml.models WHERE run_id = " + kept));
            // As if the first attempt had published and been lost, and the cancelled run had published both times.
            platform.postgres().execute("UPDATE ml.runs SET attempt = 3 WHERE run_id = " + kept);
            List<Path> leftovers = List.of(
                    stored(uri).resolveSibling(cancelled + "-1"),
                    stored(uri).resolveSibling(cancelled + "-2"),
                    stored(uri).resolveSibling(kept + "-2"));
            for (Path leftover : leftovers) {
                Files.createDirectory(leftover);
                for (String file : List.of("manifest.json", "model.ubj")) {
                    Files.copy(stored(uri).resolve(file), leftover.resolve(file));
                }
            }
            platform.await(platform.queue("leftovers", churn, SHORT), "succeeded");
            assertThat(leftovers).noneMatch(Files::exists);
            assertThat(stored(uri).resolve("manifest.json")).exists();
        }
    }

    private static Path stored(String uri) {
        return directory.resolve("store").resolve(uri.substring("store:".length()));
    }

    @Test
    void waitsForAFreeSlot() throws Exception {
        platform.stopTaskManager();
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long run = platform.queue("slot", churn, SHORT);
            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> platform.text("phase", run).equals("waiting for a free Flink slot"));
            assertThat(platform.status(run)).isEqualTo("claimed");
            platform.startTaskManager();
            platform.await(run, "succeeded");
            assertThat(platform.text("attempt", run)).isEqualTo("1");
        }
    }

    /** A job that Flink gives up for want of a slot is no try of the run: three of them would be one too many. */
    @Test
    void triesAgainWhenTheSlotWasTakenMeanwhile() throws Exception {
        platform.stopTaskManager();
        try (BoastfulFlink boastful = new BoastfulFlink(platform.trainConfig().flinkRestUri());
                RunningDispatcher dispatcher = platform.dispatch(boastful.endpoint())) {
            long run = platform.queue("slot taken", churn, SHORT);
            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> platform.number("SELECT attempt FROM ml.runs WHERE run_id = " + run) >= 3);
            platform.startTaskManager();
            platform.await(run, "succeeded");
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
            // Among them the library's cache of bins, which a killed child cannot remove.
            assertThat(scratch(run)).isEmpty();
        }
    }

    @Test
    void survivesTheLossOfTheTaskManager() throws Exception {
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            long run = platform.queue("task manager", churn, SHORT);
            try (HeldChild child = HeldChild.await()) {
                platform.await(run, "training");
                platform.replaceTaskManager();
            }
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
        long run = platform.queue("orphan", churn, SHORT);
        String job;
        try (HeldChild child = HeldChild.await()) {
            platform.await(run, "training");
            job = platform.text("flink_job_id", run);
            String owner = platform.text("lease_owner", run);
            killed.destroyForcibly().waitFor();
            try (RunningDispatcher dispatcher = platform.dispatch()) {
                Awaitility.await()
                        .atMost(SOON.multipliedBy(2))
                        .until(() -> !platform.text("lease_owner", run).equals(owner));
                child.close();
                platform.await(run, "succeeded");
            }
        } finally {
            killed.destroyForcibly();
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
            long run = platform.queue("restart", churn, SHORT);
            try (HeldChild child = HeldChild.await()) {
                platform.await(run, "training");
                platform.postgres().crash();
                platform.postgres().launch();
            }
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
