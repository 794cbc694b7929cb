package io.millrace.train.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.jobs.FlinkRest;
import io.millrace.jobs.JobState;
import io.millrace.train.TrainConfig;
import io.millrace.train.TrainJobMain;
import io.millrace.train.dispatch.TestingPlatform.RunningDispatcher;
import io.millrace.train.run.Run;
import io.millrace.train.run.RunQueue;
import io.millrace.train.spec.RunRefusedException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is let go of: cancels while the cluster is silent, leases nobody follows, what a refused export had open. */
@SuppressWarnings("try") // a dispatcher works by being there
class RunCancelIT {
    private static final String ENDLESS = "{\"n_estimators\": 100000}";
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Duration AT_ONCE = Duration.ofSeconds(3);
    private static final URI NOBODY = URI.create("http://127.0.0.1:1");

    @TempDir
    private static Path directory;

    private static TestingPlatform platform;
    private static long churn;

    @BeforeAll
    static void startPlatform() throws Exception {
        platform = TestingPlatform.start(directory);
        platform.createChurn();
        churn = platform.snapshot("churn", "churn");
    }

    @AfterAll
    static void stopPlatform() {
        platform.close();
    }

    @Test
    void hearsACancelWhileFlinkIsAway() throws Exception {
        try (RunningDispatcher dispatcher = platform.dispatch(NOBODY)) {
            long run = platform.queue("away", churn, ENDLESS);
            platform.await(run, "claimed");
            platform.cancel(run);
            Awaitility.await().atMost(SOON).until(() -> platform.status(run).equals("cancelled"));
        }
    }

    @Test
    void letsGoOfADroppedRunWhileFlinkIsAway() throws Exception {
        try (RunningDispatcher dispatcher = platform.dispatch(NOBODY)) {
            long dropped = platform.queue("dropped while away", churn, ENDLESS);
            platform.await(dropped, "claimed");
            platform.postgres().execute("DELETE FROM ml.projects WHERE name = 'dropped while away'");
            // One run is followed at a time: the next one is claimed only when the first is let go.
            long next = platform.queue("next", churn, ENDLESS);
            platform.await(next, "claimed");
            platform.cancel(next);
            platform.await(next, "cancelled");
        }
    }

    @Test
    void cancelsAJobWhoseSubmissionWasNotAnswered() throws Exception {
        URI cluster = platform.trainConfig().flinkRestUri();
        FlinkRest flink = new FlinkRest(cluster, Duration.ofSeconds(10));
        try (SilentFlink silent = new SilentFlink(cluster);
                RunningDispatcher dispatcher = platform.dispatch(silent.endpoint())) {
            long run = platform.queue("unanswered", churn, ENDLESS);
            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> platform.text("phase", run).startsWith("waiting for Flink at "));
            String job = platform.text("flink_job_id", run);
            Awaitility.await().atMost(SOON).until(() -> flink.state(job).equals(Optional.of(JobState.RUNNING)));
            platform.cancel(run);
            Awaitility.await().atMost(SOON).until(() -> platform.status(run).equals("cancelled"));
            assertThat(flink.state(job)).contains(JobState.RUNNING);
            silent.answer();
            Awaitility.await().atMost(SOON).until(() -> flink.state(job).equals(Optional.of(JobState.CANCELED)));
            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> TestingPlatform.children().isEmpty());
        }
    }

    @Test
    void refusesToTrainACancelledRun() throws Exception {
        long run = platform.queue("late", churn, ENDLESS);
        platform.postgres()
                .execute("UPDATE ml.runs SET status = 'claimed', attempt = 1, cancel_requested = true,"
                        + " lease_until = now() + interval '1 hour' WHERE run_id = " + run);
        assertThatThrownBy(() -> submit(run))
                .isInstanceOf(RunRefusedException.class)
                .hasMessageContaining("status=claimed, cancelRequested=true");
        platform.postgres()
                .execute("UPDATE ml.runs SET status = 'failed', cancel_requested = false WHERE run_id = " + run);
        assertThatThrownBy(() -> submit(run))
                .isInstanceOf(RunRefusedException.class)
                .hasMessageContaining("status=failed, cancelRequested=false");
    }

    private static void submit(long run) throws Exception {
        TrainJobMain.main(new String[] {"--conf", platform.conf().toString(), "--run", "" + run, "--attempt", "1"});
    }

    @Test
    void renewsOnlyTheLeasesOfRunsThatAreFollowed() throws Exception {
        long queued = platform.queue("leased", churn, ENDLESS);
        TrainConfig config = platform.trainConfig();
        try (Connection connection = platform.postgres().connect()) {
            RunQueue queue = new RunQueue(connection, "somebody", config);
            Run run = queue.take().orElseThrow();
            assertThat(run.runId()).isEqualTo(queued);
            String taken = platform.text("lease_until", queued);
            queue.renew(Set.of());
            queue.renew(Set.of(queued + 1));
            assertThat(platform.text("lease_until", queued)).isEqualTo(taken);
            queue.renew(Set.of(queued));
            assertThat(platform.text("lease_until", queued)).isNotEqualTo(taken);
            assertThat(queue.cancelled(run)).isTrue();
        }
    }

    @Test
    void leavesNothingOpenWhenTheSplitIsRefused() throws Exception {
        platform.postgres()
                .execute(
                        "CREATE TABLE named (id text PRIMARY KEY, a float8, y text)",
                        "INSERT INTO named SELECT 'n' || i, i, CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END"
                                + " FROM generate_series(1, 100) i");
        long snapshot = platform.snapshot("named", "y");
        Set<String> before = platform.workerConnections();
        long run = platform.queue("refused split", snapshot, ENDLESS);
        platform.postgres().execute("UPDATE ml.runs SET test_sampling = 'last' WHERE run_id = " + run);
        try (RunningDispatcher dispatcher = platform.dispatch()) {
            platform.await(run, "failed");
        }
        assertThat(platform.text("error", run)).startsWith("test sampling last must have one key column of a number");
        // At once: a connection that was forgotten is closed too, when the garbage collector finds it.
        Awaitility.await().atMost(AT_ONCE).until(() -> before.containsAll(platform.workerConnections()));
        try (var scratch = Files.list(directory.resolve("matrix/scratch"))) {
            assertThat(scratch).noneMatch(path -> path.getFileName().toString().startsWith("run-" + run + "-"));
        }
    }
}
