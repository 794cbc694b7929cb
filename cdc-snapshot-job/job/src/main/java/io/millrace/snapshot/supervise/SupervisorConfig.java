package io.millrace.snapshot.supervise;

import io.millrace.contract.ConfigFile;
import io.millrace.snapshot.SnapshotConfig;
import java.net.URI;
import java.nio.file.Path;

/**
 * What the supervisor is told by {@code snapshot.properties}.
 *
 * @param flinkRest the cluster's REST endpoint
 * @param jobJar the change job's jar
 * @param savepointUri directory of savepoints
 * @param stateDirectory where the supervisor keeps its file
 * @param pollMillis how often to look when nobody tells of a change
 * @param requestMillis limit of one call to the cluster
 * @param savepointMillis limit of a stop with savepoint
 * @param stopJobOnExit whether ending the supervisor stops the job; otherwise it goes on
 */
record SupervisorConfig(
        URI flinkRest,
        Path jobJar,
        String savepointUri,
        Path stateDirectory,
        int pollMillis,
        int requestMillis,
        int savepointMillis,
        boolean stopJobOnExit,
        SnapshotConfig job) {

    static SupervisorConfig from(ConfigFile file) {
        SupervisorConfig config = new SupervisorConfig(
                URI.create(file.string("flink-rest-uri", "http://127.0.0.1:8081")),
                file.path("job-jar"),
                file.string("savepoint-uri"),
                file.path("state-directory"),
                file.integer("poll-millis", 1_000, 50, 60_000),
                file.integer("request-millis", 10_000, 100, 600_000),
                file.integer("savepoint-millis", 600_000, 1_000, 86_400_000),
                file.bool("stop-job-on-exit", false),
                SnapshotConfig.from(file));
        file.rejectUnknownKeys();
        return config;
    }
}
