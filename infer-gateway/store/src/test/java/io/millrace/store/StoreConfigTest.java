package io.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreConfigTest {
    @TempDir
    Path directory;

    @Test
    void readsOptionsAndSecretsByReference() throws IOException {
        Path secret = Files.writeString(directory.resolve("secret"), "hush\n");
        ConfigFile file = ConfigFile.of(
                directory.resolve("store.properties"),
                Map.of(
                        "store-scheme", "s3",
                        "store-root", "/models",
                        "store-option.bucket", "shop",
                        "store-option.secret_access_key", "file:" + secret,
                        "package-bytes-max", "1000"));
        StoreConfig config = StoreConfig.from(file);
        file.rejectUnknownKeys();
        assertThat(config.resolvedOptions())
                .isEqualTo(Map.of("root", "/models", "bucket", "shop", "secret_access_key", "hush"));
        assertThat(config.packageBytesMax()).isEqualTo(1000);
        assertThat(config.operationTimeoutMillis()).isEqualTo(30_000);
        assertThat(config.toString())
                .isEqualTo("StoreConfig[scheme=s3, options=[bucket, root, secret_access_key],"
                        + " operationTimeoutMillis=30000, packageBytesMax=1000, cacheBytesMax=8589934592]");
    }

    @Test
    void filesAppearWhole() {
        StoreConfig config = new StoreConfig("fs", Map.of("root", "/srv/models"));
        assertThat(config.resolvedOptions())
                .isEqualTo(Map.of("root", "/srv/models", "atomic_write_dir", "/srv/models/.unfinished"));
    }

    @Test
    void refusesARelativeRootAndAMissingSecret() {
        assertThatThrownBy(() -> new StoreConfig("fs", Map.of("root", "models")))
                .isInstanceOfSatisfying(
                        ContractException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_CONFIG))
                .hasMessage("store root must be an absolute path: root=models");
        StoreConfig config = new StoreConfig("s3", Map.of("secret_access_key", "env:MILLRACE_NOT_SET"));
        assertThatThrownBy(() -> new ModelStore(config))
                .isInstanceOf(ContractException.class)
                .hasMessage("secret cannot be read: reference=env:MILLRACE_NOT_SET");
    }

    @Test
    void refusesAnUnknownScheme() {
        assertThatThrownBy(() -> new ModelStore(new StoreConfig("hdfs", Map.of("root", "/"))))
                .isInstanceOfSatisfying(
                        ContractException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_CONFIG))
                .hasMessageStartingWith("store cannot be opened: scheme=hdfs, cause=");
    }
}
