package io.millrace.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ConfigFileTest {
    @TempDir
    Path directory;

    private ConfigFile file(String text) throws IOException {
        return ConfigFile.read(Files.writeString(directory.resolve("gateway.properties"), text));
    }

    private String name() {
        return directory.resolve("gateway.properties").toString();
    }

    @Test
    void readsValuesAndDefaults() throws IOException {
        ConfigFile config = file("worker-count = 4 \nempty=\nratio=0.5\nflag=true\n# comment\n");
        assertThat(config.integer("worker-count", 2, 1, 64)).isEqualTo(4);
        assertThat(config.integer("metrics-port", 9187, 1, 65535)).isEqualTo(9187);
        assertThat(config.string("empty", "fallback")).isEqualTo("fallback");
        assertThat(config.optional("empty")).isEmpty();
        assertThat(config.decimal("ratio", 1, 0, 1)).isEqualTo(0.5);
        assertThat(config.bool("flag", false)).isTrue();
        config.rejectUnknownKeys();
    }

    @Test
    void relativePathsStartAtTheFile() throws IOException {
        ConfigFile config = file("cache-directory=cache/models\nabsolute=/var/lib\n");
        assertThat(config.path("cache-directory")).isEqualTo(directory.resolve("cache/models"));
        assertThat(config.path("absolute")).isEqualTo(Path.of("/var/lib"));
        assertThat(config.path("other", Path.of("x"))).isEqualTo(Path.of("x"));
    }

    @Test
    void rejectsANumberOutOfRange() throws IOException {
        ConfigFile config = file("worker-count=0\nword=two\n");
        assertThatThrownBy(() -> config.integer("worker-count", 2, 1, 64))
                .isInstanceOf(ContractException.class)
                .hasMessage("configuration value must be a whole number: file=" + name()
                        + ", key=worker-count, value=0, min=1, max=64");
        assertThatThrownBy(() -> config.longValue("word", 2, 1, 64))
                .hasMessage("configuration value must be a whole number: file=" + name()
                        + ", key=word, value=two, min=1, max=64");
        assertThatThrownBy(() -> config.decimal("word", 2, 1, 64))
                .hasMessage("configuration value must be a number: file=" + name()
                        + ", key=word, value=two, min=1.0, max=64.0");
        assertThatThrownBy(() -> config.bool("word", true))
                .hasMessage("configuration value must be true or false: file=" + name()
                        + ", key=word, value=two, default=true");
    }

    @Test
    void rejectsAnAbsentRequiredValue() throws IOException {
        ConfigFile config = file("");
        assertThatThrownBy(() -> config.string("region-directory"))
                .hasMessage("configuration value is required: file=" + name() + ", key=region-directory");
    }

    @Test
    void namesTheNearestOfAnUnknownKey() throws IOException {
        ConfigFile config = file("worker-cuont=3\n");
        config.integer("worker-count", 2, 1, 64);
        config.integer("metrics-port", 1, 1, 2);
        assertThatThrownBy(config::rejectUnknownKeys)
                .isInstanceOf(ContractException.class)
                .hasMessage(
                        "configuration key is unknown: file=" + name() + ", key=worker-cuont, nearest=worker-count");
    }

    @Test
    void namesNoNearestWhenNothingIsNear() throws IOException {
        ConfigFile config = file("zzzz=3\n");
        config.integer("worker-count", 2, 1, 64);
        assertThatThrownBy(config::rejectUnknownKeys)
                .hasMessage("configuration key is unknown: file=" + name() + ", key=zzzz");
    }

    @Test
    void prefixedKeysAreKnown() throws IOException {
        ConfigFile config = file("iceberg.io-impl=x\niceberg.uri=y\n");
        assertThat(config.prefixed("iceberg.")).isEqualTo(Map.of("io-impl", "x", "uri", "y"));
        config.rejectUnknownKeys();
    }

    @Test
    void rejectsAKeyGivenTwice() {
        assertThatThrownBy(() -> file("a=1\na=2\n"))
                .isInstanceOf(ContractException.class)
                .hasMessage("configuration key is given twice: file=" + name() + ", key=a");
    }

    @Test
    void rejectsAFileThatCannotBeRead() {
        Path absent = directory.resolve("absent.properties");
        assertThatThrownBy(() -> ConfigFile.read(absent))
                .isInstanceOf(ContractException.class)
                .hasMessage("configuration file cannot be read: file=" + absent);
        assertThatThrownBy(() -> file("a=\\u00zz\n")).hasMessage("configuration file cannot be read: file=" + name());
    }

    @Test
    void aSecretThatIsNoReferenceIsNotRepeated() throws IOException {
        ConfigFile config = file("database-password=hunter2\n");
        assertThatThrownBy(() -> config.secret("database-password"))
                .isInstanceOf(ContractException.class)
                .hasMessage("configuration secret must be env:NAME or file:PATH: file=" + name()
                        + ", key=database-password")
                .hasStackTraceContaining("secret must be a reference")
                .satisfies(failure ->
                        assertThat(String.valueOf(failure.getCause())).doesNotContain("hunter2"));
        assertThat(config.secret("absent")).isEqualTo(SecretReference.NONE);
    }
}
