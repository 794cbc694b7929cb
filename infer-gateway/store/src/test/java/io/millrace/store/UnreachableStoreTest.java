package io.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnreachableStoreTest {
    private static final String SECRET = "very-secret-words";

    @TempDir
    Path directory;

    private static StoreConfig s3(int port, long timeoutMillis) {
        return new StoreConfig(
                "s3",
                Map.of(
                        "root", "/",
                        "bucket", "models",
                        "endpoint", "http://127.0.0.1:" + port,
                        "region", "us-east-1",
                        "access_key_id", "key",
                        "secret_access_key", SECRET,
                        "disable_config_load", "true",
                        "disable_ec2_metadata", "true"),
                timeoutMillis,
                1 << 20,
                1 << 30);
    }

    @Test
    void aRefusedConnectionIsUnavailable() throws IOException {
        int port;
        try (ServerSocket closed = new ServerSocket(0)) {
            port = closed.getLocalPort();
        }
        try (ModelStore store = new ModelStore(s3(port, 20_000))) {
            assertThatThrownBy(() -> store.exists("store:shop/1/1-1"))
                    .isInstanceOfSatisfying(
                            ContractException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE))
                    .hasMessageStartingWith(
                            "store cannot be used: scheme=s3, operation=stat, path=shop/1/1-1/manifest.json, cause=")
                    .hasMessageNotContaining(SECRET);
        }
    }

    @Test
    void aSilentEndpointIsGivenUp() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                ModelStore store = new ModelStore(s3(silent.getLocalPort(), 400))) {
            assertThatThrownBy(() -> store.exists("store:shop/1/1-1"))
                    .isInstanceOfSatisfying(
                            ContractException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE))
                    .hasMessage("store must answer in time: operation=stat, path=shop/1/1-1/manifest.json,"
                            + " timeoutMillis=400");
        }
    }

    @Test
    void callsThatNeverEndAreBounded() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                ModelStore store = new ModelStore(s3(silent.getLocalPort(), 1))) {
            for (int call = 0; call < ObjectStore.CALLS_MAX; call++) {
                assertThatThrownBy(() -> store.exists("store:shop/1/1-1"))
                        .hasMessageStartingWith("store must answer in time");
            }
            assertThatThrownBy(() -> store.exists("store:shop/1/1-1"))
                    .isInstanceOfSatisfying(
                            ContractException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE))
                    .hasMessage("store must answer the calls before: operation=stat, path=shop/1/1-1/manifest.json,"
                            + " limitCalls=64");
        }
    }
}
