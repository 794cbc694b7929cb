package io.millrace.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.SecretReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HttpConfigTest {
    private static Optional<HttpConfig> read(Map<String, String> values) {
        return HttpConfig.from(ConfigFile.of(Path.of("/conf/gateway.properties"), values));
    }

    @Test
    void isOffWithoutAPort() {
        assertThat(read(Map.of())).isEmpty();
        assertThat(read(Map.of("http-port", "", "http-host", "0.0.0.0"))).isEmpty();
    }

    @Test
    void hasTheDocumentedDefaults() {
        assertThat(read(Map.of("http-port", "9188")))
                .contains(new HttpConfig(
                        "127.0.0.1",
                        9188,
                        SecretReference.NONE,
                        8_192,
                        4_194_304,
                        65_536,
                        33_554_432,
                        256,
                        512,
                        Duration.ofSeconds(30),
                        Duration.ofSeconds(30),
                        Duration.ofMillis(500),
                        new DatabaseAddress("127.0.0.1", 5432, "postgres", "millrace_gateway", SecretReference.NONE)));
    }

    @Test
    void listensElsewhereOnlyWithAToken() {
        Map<String, String> values = new HashMap<>(Map.of("http-port", "0", "http-host", "0.0.0.0"));
        assertThatThrownBy(() -> read(values))
                .hasMessage("http-host must be a loopback address unless http-token is set:"
                        + " file=/conf/gateway.properties, http-host=0.0.0.0");
        values.put("http-token", "file:/etc/millrace/token");
        assertThat(read(values)).isPresent();
        assertThat(read(Map.of("http-port", "0", "http-host", "::1"))).isPresent();
    }

    @Test
    void aTokenIsAReferenceAndLongEnough(@TempDir Path directory) throws Exception {
        assertThatThrownBy(() -> read(Map.of("http-port", "0", "http-token", "abc")))
                .hasMessage("configuration secret must be env:NAME or file:PATH: file=/conf/gateway.properties,"
                        + " key=http-token");
        Path file = Files.writeString(directory.resolve("token"), "short\n");
        assertThatThrownBy(() -> new Access(SecretReference.parse("file:" + file)))
                .hasMessage("http-token is too short: reference=file:" + file + ", length=5, minLength=16");
        assertThatThrownBy(() -> new Access(SecretReference.parse("file:/nowhere/token")))
                .hasMessage("secret cannot be read: reference=file:/nowhere/token");
    }
}
