package io.millrace.snapshot;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A Flink cluster with one TaskManager that can be killed, and its REST endpoint on a free port. */
final class TestingCluster implements AutoCloseable {
    private static final long LIMIT_SECONDS = 100;

    private final MiniCluster cluster;

    private TestingCluster(MiniCluster cluster) {
        this.cluster = cluster;
    }

    static TestingCluster start(Path directory) throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(RestOptions.BIND_PORT, "0");
        configuration.set(WebOptions.UPLOAD_DIR, directory.resolve("jars").toString());
        MiniCluster cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(4)
                .build());
        cluster.start();
        return new TestingCluster(cluster);
    }

    String restUri() throws Exception {
        return cluster.getRestAddress().get().toString();
    }

    JobID submit(StreamExecutionEnvironment environment, @Nullable String restorePath) throws Exception {
        JobGraph graph = environment.getStreamGraph().getJobGraph();
        if (restorePath != null) {
            graph.setSavepointRestoreSettings(SavepointRestoreSettings.forPath(restorePath, true));
        }
        cluster.submitJob(graph).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        return graph.getJobID();
    }

    JobStatus status(JobID job) throws Exception {
        return cluster.getJobStatus(job).get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    String stopWithSavepoint(JobID job, Path directory) throws Exception {
        return cluster.stopWithSavepoint(job, directory.toUri().toString(), false, SavepointFormatType.CANONICAL)
                .get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    /** Ends the TaskManager at once, as a crash does for the job, and starts another one. */
    void replaceTaskManager() throws Exception {
        cluster.terminateTaskManager(0).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        cluster.startTaskManager();
    }

    void cancel(JobID job) throws Exception {
        cluster.cancelJob(job).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        Awaitility.await()
                .atMost(Duration.ofSeconds(LIMIT_SECONDS))
                .until(() -> status(job).isGloballyTerminalState());
    }

    @Override
    public void close() {
        cluster.closeAsync().join();
    }
}
