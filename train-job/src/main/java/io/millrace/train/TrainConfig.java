package io.millrace.train;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;

/**
 * {@code train.properties}.
 *
 * @param flinkRestUri the Flink cluster jobs are submitted to
 * @param jobJar the jar with {@link TrainJobMain}, on the dispatcher's machine
 * @param matrixDirectory local disk of every TaskManager's machine, for matrices and scratch files
 * @param matrixCacheBytes size above which matrices not in use are evicted
 * @param trainLibDirectory class path of the child JVM, on every TaskManager's machine
 * @param trainMemoryBytes most anonymous memory a child may be expected to need
 * @param trainThreads threads of a child; 0 = all processors
 * @param trainNiceness of a child
 * @param lease how long a dispatcher that falls silent keeps its runs
 * @param poll pause between looks at the queue, at cancels and at the cluster; at most a third of the lease
 * @param concurrentRuns runs followed at once
 * @param flinkWait how long a run waits for a cluster that does not answer
 * @param slotWait how long a run waits for a free slot of the cluster
 */
public record TrainConfig(
        URI flinkRestUri,
        Path jobJar,
        Path matrixDirectory,
        long matrixCacheBytes,
        Path trainLibDirectory,
        long trainMemoryBytes,
        int trainThreads,
        int trainNiceness,
        Duration lease,
        Duration poll,
        int concurrentRuns,
        Duration flinkWait,
        Duration slotWait) {
    /** Tries of a run before it fails: the first and one more. */
    public static final int ATTEMPTS = 2;

    /** Renewals within the length of a lease. */
    public static final int RENEWALS = 3;

    private static final long GIBIBYTE = 1L << 30;

    /**
     * Reads the file; every key it has is known.
     *
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} naming what is wrong
     */
    public static TrainConfig from(ConfigFile file) {
        TrainConfig config = new TrainConfig(
                URI.create(file.string("flink-rest-uri", "http://127.0.0.1:8081")),
                file.path("job-jar"),
                file.path("matrix-directory"),
                file.longValue("matrix-cache-bytes", 20 * GIBIBYTE, 0, Long.MAX_VALUE),
                file.path("train-lib-directory"),
                file.longValue("train-memory-bytes", 2 * GIBIBYTE, GIBIBYTE / 4, Long.MAX_VALUE),
                file.integer("train-threads", 0, 0, 1_024),
                file.integer("train-niceness", 5, 0, 19),
                Duration.ofSeconds(file.integer("lease-seconds", 30, 2, 3_600)),
                Duration.ofMillis(file.integer("poll-millis", 500, 50, 60_000)),
                file.integer("concurrent-runs", 1, 1, 64),
                Duration.ofSeconds(file.integer("flink-wait-seconds", 600, 1, 86_400)),
                Duration.ofSeconds(file.integer("slot-wait-seconds", 86_400, 1, 604_800)));
        file.rejectUnknownKeys();
        if (config.poll().multipliedBy(RENEWALS).compareTo(config.lease()) > 0) {
            throw new ContractException(
                    ErrorCode.INVALID_CONFIG,
                    "poll-millis must be at most a third of lease-seconds, or leases run out between two looks: file="
                            + file.file() + ", poll-millis=" + config.poll().toMillis() + ", lease-seconds="
                            + config.lease().toSeconds());
        }
        return config;
    }

    /** Threads of a child on this machine. */
    public int childThreads() {
        return trainThreads == 0 ? Runtime.getRuntime().availableProcessors() : trainThreads;
    }
}
