package io.millrace.gateway.profile;

import io.millrace.contract.ConfigFile;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What {@code gateway.properties} says of profiling.
 *
 * @param enabled whether anything is recorded
 * @param period between two looks at the running threads
 * @param diskBytes what the recording may take on disk
 * @param directory where it is, while the process runs
 */
public record ProfileConfig(boolean enabled, Duration period, long diskBytes, Path directory) {
    /** How far a profile may reach back; seconds. */
    static final int SECONDS_MAX = 600;

    /**
     * Reads the keys.
     *
     * @throws io.millrace.contract.ContractException {@link io.millrace.contract.ErrorCode#INVALID_CONFIG} if one is out
     *     of range
     */
    public static ProfileConfig from(ConfigFile file) {
        return new ProfileConfig(
                file.bool("profiling", true),
                Duration.ofMillis(file.longValue("profiling-period-millis", 20, 10, 1_000)),
                file.longValue("profiling-disk-bytes", 33_554_432, 4_194_304, 1L << 30),
                file.path("cache-directory").resolve("profile"));
    }
}
