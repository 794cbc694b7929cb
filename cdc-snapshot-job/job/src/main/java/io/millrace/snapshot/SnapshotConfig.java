package io.millrace.snapshot;

import io.millrace.contract.ConfigFile;
import java.io.Serializable;

/**
 * What the change job itself is told by {@code snapshot.properties}.
 *
 * @param slotName replication slot, one per database and Millrace
 * @param publicationName made and kept by the extension
 * @param checkpointUri directory of checkpoints
 * @param checkpointMillis time between two checkpoints: a change is in the lake, and a snapshot is answered, after at most this
 * @param heartbeatMillis how often the position of the log is followed while no captured table changes
 * @param chunkRows rows of one chunk of an initial load, which is held in memory
 * @param fetchRows rows of one fetch within a chunk
 * @param publishThreads snapshots fitted at the same time
 */
public record SnapshotConfig(
        String slotName,
        String publicationName,
        String checkpointUri,
        int checkpointMillis,
        int heartbeatMillis,
        int chunkRows,
        int fetchRows,
        int publishThreads)
        implements Serializable {
    private static final long serialVersionUID = 1L;

    /** Reads the job's keys of {@code snapshot.properties}. */
    public static SnapshotConfig from(ConfigFile file) {
        return new SnapshotConfig(
                file.string("slot-name", "millrace"),
                file.string("publication-name", "millrace"),
                file.string("checkpoint-uri"),
                file.integer("checkpoint-millis", 2_000, 100, 600_000),
                file.integer("heartbeat-millis", 1_000, 100, 60_000),
                file.integer("chunk-rows", 50_000, 100, 1_000_000),
                file.integer("fetch-rows", 2_000, 1, 100_000),
                file.integer("publish-threads", 2, 1, 16));
    }
}
