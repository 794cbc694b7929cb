package io.millrace.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ConfigFile;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LakeConfigTest {
    @TempDir
    Path directory;

    @Test
    void theDefaultCatalogIsInTheSourceDatabase() throws IOException {
        Path secret = Files.writeString(directory.resolve("secret"), "s3cr3t\n");
        LakeConfig config = LakeConfig.from(
                file(Map.of("warehouse-uri", "file:///lake", "iceberg.clients", "4")),
                file(Map.of(
                        "database-host", "db",
                        "database-port", "5433",
                        "database-name", "app",
                        "database-user", "worker",
                        "database-password", "file:" + secret)));
        assertThat(config.isJdbc()).isTrue();
        assertThat(config.catalogName()).isEqualTo("millrace");
        assertThat(config.resolvedProperties())
                .containsEntry("uri", "jdbc:postgresql://db:5433/app?currentSchema=ml_lake")
                .containsEntry("warehouse", "file:///lake")
                .containsEntry("jdbc.user", "worker")
                .containsEntry("jdbc.password", "s3cr3t")
                .containsEntry("jdbc.schema-version", "V1")
                .containsEntry("clients", "4");
    }

    @Test
    void theSecretStaysAReferenceUntilTheCatalogIsOpened() throws Exception {
        Path secret = Files.writeString(directory.resolve("secret"), "s3cr3t");
        LakeConfig config = LakeConfig.from(
                file(Map.of("warehouse-uri", "file:///lake")), file(Map.of("database-password", "file:" + secret)));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(config);
        }
        assertThat(bytes.toString(StandardCharsets.ISO_8859_1)).doesNotContain("s3cr3t");
        assertThat(config.toString())
                .isEqualTo("LakeConfig[catalogName=millrace, catalogSchema=ml_lake, warehouse=file:///lake]");
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            assertThat(in.readObject()).isEqualTo(config);
        }
    }

    @Test
    void anotherCatalogIsNamedByItsProperties() {
        LakeConfig config = LakeConfig.from(
                file(Map.of(
                        "warehouse-uri", "s3://bucket/lake",
                        "iceberg.type", "rest",
                        "iceberg.uri", "http://catalog:8181")),
                file(Map.of()));
        assertThat(config.isJdbc()).isFalse();
        assertThat(config.resolvedProperties())
                .isEqualTo(Map.of("type", "rest", "uri", "http://catalog:8181", "warehouse", "s3://bucket/lake"));
    }

    @Test
    void theWarehouseIsRequired() {
        assertThatThrownBy(() -> LakeConfig.from(file(Map.of()), file(Map.of())))
                .hasMessage("configuration value is required: file=" + directory.resolve("x.properties")
                        + ", key=warehouse-uri");
    }

    private ConfigFile file(Map<String, String> values) {
        return ConfigFile.of(directory.resolve("x.properties"), values);
    }
}
