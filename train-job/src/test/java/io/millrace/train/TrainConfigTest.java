package io.millrace.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.ContractException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TrainConfigTest {
    @Test
    void refusesToLookLessOftenThanALeaseMustBeRenewed() {
        assertThatThrownBy(() -> config("3", "1001"))
                .isInstanceOf(ContractException.class)
                .hasMessageContaining("poll-millis must be at most a third of lease-seconds")
                .hasMessageContaining("file=train.properties, poll-millis=1001, lease-seconds=3");
    }

    @Test
    void acceptsAThird() {
        assertThat(config("3", "1000").poll()).isEqualTo(Duration.ofSeconds(1));
    }

    private static TrainConfig config(String leaseSeconds, String pollMillis) {
        return TrainConfig.from(ConfigFile.of(
                Path.of("train.properties"),
                Map.of(
                        "job-jar", "job.jar",
                        "matrix-directory", "matrix",
                        "train-lib-directory", "lib",
                        "lease-seconds", leaseSeconds,
                        "poll-millis", pollMillis)));
    }
}
