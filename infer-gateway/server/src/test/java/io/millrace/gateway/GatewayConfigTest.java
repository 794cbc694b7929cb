package io.millrace.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.envelope.RequestLimits;
import io.millrace.gateway.profile.ProfileConfig;
import io.millrace.gateway.trace.TraceConfig;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GatewayConfigTest {
    private static GatewayConfig read(Map<String, String> values) {
        Map<String, String> all = new HashMap<>(Map.of("region-directory", "/dev/shm/r", "cache-directory", "/c"));
        all.putAll(values);
        return GatewayConfig.from(ConfigFile.of(Path.of("/conf/gateway.properties"), all));
    }

    @Test
    void hasTheDocumentedDefaults() {
        GatewayConfig config = read(Map.of());
        assertThat(config.region().heartbeatLimit()).isEqualTo(Duration.ofSeconds(5));
        assertThat(config.region().group()).isEmpty();
        assertThat(config.region().sparse()).isTrue();
        assertThat(config.heartbeat()).isEqualTo(Duration.ofMillis(500));
        assertThat(config.metricsPort()).isEqualTo(9187);
        assertThat(config.cacheBytes()).isEqualTo(201_326_592);
        assertThat(config.pipeline().batchRowsMax()).isEqualTo(512);
        assertThat(config.pipeline().inlineNanos()).isEqualTo(250_000);
        assertThat(config.spinNanos()).isEqualTo(200_000);
        assertThat(config.payloadBytes()).isEqualTo(268_435_456);
        assertThat(config.warm()).isEqualTo(Duration.ofSeconds(30));
        assertThat(config.importDirectory()).isNull();
        assertThat(read(Map.of("import-directory", "/srv/models")).importDirectory())
                .isEqualTo(Path.of("/srv/models"));
        assertThat(read(Map.of("import-directory", "")).importDirectory()).isNull();
        assertThat(config.pipeline().limits().isEmpty()).isTrue();
        assertThat(config.pipeline().limits().waits()).isFalse();
        assertThat(config.pipeline().queueFullWaits()).isFalse();
        assertThat(config.pipeline().mergeWindowNanos()).isZero();
        assertThat(config.pipeline().waitingRowsMax()).isEqualTo(65_536);
        assertThat(config.http()).isEmpty();
        assertThat(config.slowNanos()).isZero();
        assertThat(config.trace()).isEmpty();
        assertThat(config.profile())
                .isEqualTo(new ProfileConfig(true, Duration.ofMillis(20), 33_554_432, Path.of("/c/profile")));
    }

    @Test
    void readsLimitsAndWhatHappensAboveThem() {
        GatewayConfig config = read(Map.of(
                "requests-per-second", "1", "rows-per-second", "2", "concurrent-requests", "3", "on-limit", "wait"));
        assertThat(config.pipeline().limits()).isEqualTo(new RequestLimits(1, 2, 3, true));
        assertThatThrownBy(() -> read(Map.of("queue-full", "block")))
                .hasMessage("configuration value must be reject or wait: file=/conf/gateway.properties,"
                        + " key=queue-full, value=block");
    }

    @Test
    void tracesNeedACollector() {
        assertThat(read(Map.of("trace-ratio", "1")).trace()).isEmpty();
        assertThat(read(Map.of("otlp-endpoint", "http://127.0.0.1:4318")).trace())
                .contains(new TraceConfig(URI.create("http://127.0.0.1:4318/v1/traces"), 0.01));
        assertThat(read(Map.of("otlp-endpoint", "https://traces.test/in?a=b", "trace-ratio", "0"))
                        .trace())
                .contains(new TraceConfig(URI.create("https://traces.test/in?a=b"), 0));
        for (String malformed : List.of("127.0.0.1:4318", "ftp://a", "http://me:secret@a", "http://", "http://a b")) {
            assertThatThrownBy(() -> read(Map.of("otlp-endpoint", malformed)))
                    .hasMessage("configuration value must be http://HOST:PORT or https://.., with or without a path,"
                            + " and no user: file=/conf/gateway.properties, key=otlp-endpoint");
        }
        assertThatThrownBy(() -> read(Map.of("trace-ratio", "2")))
                .hasMessage("configuration value must be a number: file=/conf/gateway.properties, key=trace-ratio,"
                        + " value=2, min=0.0, max=1.0");
    }

    @Test
    void namesFileKeyValueAndRange() {
        assertThatThrownBy(() -> read(Map.of("worker-count", "0")))
                .hasMessage("configuration value must be a whole number: file=/conf/gateway.properties,"
                        + " key=worker-count, value=0, min=1, max=256");
    }

    @Test
    void namesTheNearestKeyOfAMisspeltOne() {
        assertThatThrownBy(() -> read(Map.of("worker-cuont", "2")))
                .hasMessage("configuration key is unknown: file=/conf/gateway.properties, key=worker-cuont,"
                        + " nearest=worker-count");
    }
}
