package io.millrace.region;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Where the region lives and who may use it.
 *
 * @param directory on tmpfs; one gateway at a time
 * @param group operating-system group of the database's server; empty when both run as one user
 * @param heartbeatLimit age of the heartbeat from which backends take the gateway for stuck
 * @param sparse whether slabs take their memory when they are used first; when false, or before Linux 5.14, all are
 *     resident from the start
 */
public record RegionConfig(Path directory, Optional<String> group, Duration heartbeatLimit, boolean sparse) {
    public RegionConfig {
        if (heartbeatLimit.isNegative() || heartbeatLimit.isZero()) {
            throw new IllegalArgumentException("heartbeat limit must be positive: heartbeatLimit=" + heartbeatLimit);
        }
    }

    /** One user, slabs that are resident from the start, a limit of 5 seconds. */
    public static RegionConfig of(Path directory) {
        return new RegionConfig(directory, Optional.empty(), Duration.ofSeconds(5), false);
    }
}
