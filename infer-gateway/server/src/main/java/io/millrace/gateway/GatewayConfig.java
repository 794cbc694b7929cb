package io.millrace.gateway;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.RequestLimits;
import io.millrace.contract.layout.PayloadLayout;
import io.millrace.gateway.core.PipelineConfig;
import io.millrace.gateway.http.HttpConfig;
import io.millrace.gateway.profile.ProfileConfig;
import io.millrace.gateway.trace.TraceConfig;
import io.millrace.region.RegionConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What {@code gateway.properties} says.
 *
 * @param heartbeat how often the region's heartbeat is renewed and dead owners are looked for
 * @param metricsHost address of the operator's endpoint: metrics and profiles
 * @param metricsPort its port; 0 takes any free one
 * @param cacheDirectory local copies of packages
 * @param importDirectory where model files of this machine may be imported from; null for nowhere
 * @param cacheBytes memory of all resident models; the heap may allow less
 * @param queueRows rows that may wait for one model, those of large jobs apart
 * @param spinNanos how long the dispatcher waits awake for the next request of a lone session
 * @param payloadBytes memory of requests and responses in flight that do not fit their slabs
 * @param warm how long the start may wait for the models of the last run
 * @param http nothing when it is off
 * @param slowNanos predictions that take as long are told of; 0 = none
 * @param trace nothing when no spans are made
 * @param drain how long requests in flight may take at shutdown
 */
public record GatewayConfig(
        RegionConfig region,
        PipelineConfig pipeline,
        Duration heartbeat,
        String metricsHost,
        int metricsPort,
        Path cacheDirectory,
        @Nullable Path importDirectory,
        long cacheBytes,
        int queueRows,
        long spinNanos,
        long payloadBytes,
        Duration warm,
        Optional<HttpConfig> http,
        long slowNanos,
        Optional<TraceConfig> trace,
        ProfileConfig profile,
        Duration drain) {

    /**
     * Reads the file.
     *
     * @throws io.millrace.contract.ContractException {@link io.millrace.contract.ErrorCode#INVALID_CONFIG} if a key is
     *     missing, unknown or out of range
     */
    public static GatewayConfig from(ConfigFile file) {
        RegionConfig region = new RegionConfig(
                file.path("region-directory"),
                file.optional("region-group"),
                Duration.ofMillis(file.longValue("heartbeat-limit-millis", 5_000, 500, 600_000)),
                file.bool("region-sparse", true));
        PipelineConfig pipeline = new PipelineConfig(
                file.integer("worker-count", 2, 1, 256),
                file.integer("max-batch-rows", 512, 1, 1 << 20),
                TimeUnit.MICROSECONDS.toNanos(file.longValue("inline-micros", 250, 0, 100_000)),
                TimeUnit.MICROSECONDS.toNanos(file.longValue("merge-window-micros", 0, 0, 100_000)),
                new RequestLimits(
                        file.longValue("requests-per-second", 0, 0, RequestLimits.LIMIT_MAX),
                        file.longValue("rows-per-second", 0, 0, RequestLimits.LIMIT_MAX),
                        file.longValue("concurrent-requests", 0, 0, RequestLimits.LIMIT_MAX),
                        waits(file, "on-limit")),
                waits(file, "queue-full"),
                file.integer("waiting-rows", 65_536, 1, 1 << 24));
        GatewayConfig config = new GatewayConfig(
                region,
                pipeline,
                Duration.ofMillis(file.longValue("heartbeat-millis", 500, 50, 10_000)),
                file.string("metrics-host", "127.0.0.1"),
                file.integer("metrics-port", 9187, 0, 65_535),
                file.path("cache-directory"),
                file.optional("import-directory").isEmpty() ? null : file.path("import-directory"),
                file.longValue("cache-bytes", 201_326_592, 1 << 20, Long.MAX_VALUE),
                file.integer("queue-rows", 65_536, 1, 1 << 24),
                TimeUnit.MICROSECONDS.toNanos(file.longValue("spin-micros", 200, 0, 1_000)),
                file.longValue("payload-bytes", 268_435_456, 2L * PayloadLayout.LENGTH_LIMIT, 1L << 40),
                Duration.ofMillis(file.longValue("warm-millis", 30_000, 0, 600_000)),
                HttpConfig.from(file),
                TimeUnit.MILLISECONDS.toNanos(file.longValue("slow-request-millis", 0, 0, 3_600_000)),
                TraceConfig.from(file),
                ProfileConfig.from(file),
                Duration.ofMillis(file.longValue("drain-millis", 10_000, 0, 600_000)));
        file.rejectUnknownKeys();
        return config;
    }

    /** Whether a key says to wait instead of refusing. */
    private static boolean waits(ConfigFile file, String key) {
        String value = file.string(key, "reject");
        if (!value.equals("reject") && !value.equals("wait")) {
            throw new ContractException(
                    ErrorCode.INVALID_CONFIG,
                    "configuration value must be reject or wait: file=" + file.file() + ", key=" + key + ", value="
                            + value);
        }
        return value.equals("wait");
    }
}
