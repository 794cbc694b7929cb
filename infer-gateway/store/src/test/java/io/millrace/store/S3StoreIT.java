package io.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same promises over S3: publishing in chunks, verification, faults of the server. */
class S3StoreIT {
    private static final int LARGE_LENGTH = 2 * ObjectStore.CHUNK_LENGTH + 777;
    private static final long TIMEOUT_MILLIS = 30_000;

    @TempDir
    static Path shared;

    private static TestingS3 server;

    @BeforeAll
    static void start() throws IOException, InterruptedException {
        server = TestingS3.start(shared);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void fetchesWhatWasPublished(@TempDir Path temporary) throws IOException {
        Path local = temporary.resolve("local");
        String digest = TestingPackages.write(local, 1, LARGE_LENGTH);
        try (ModelStore store = new ModelStore(server.config(TIMEOUT_MILLIS))) {
            String directory = ModelStore.directory("shöp", 1, 1, 1);
            assertThat(store.exists("store:" + directory)).isFalse();
            String uri = store.publish(directory, local);
            assertThat(store.publish(directory, local)).isEqualTo(uri);
            assertThat(store.exists(uri)).isTrue();
            ModelStoreTest.assertSameFiles(store.fetch(uri, digest, temporary.resolve("cache")), local);
            store.delete(uri);
            assertThat(store.exists(uri)).isFalse();
            assertThat(server.file(directory).resolve(TestingPackages.MODEL_FILE))
                    .doesNotExist();
        }
    }

    @Test
    void refusesDamage(@TempDir Path temporary) throws IOException {
        Path local = temporary.resolve("local");
        String digest = TestingPackages.write(local, 2, 50_000);
        try (ModelStore store = new ModelStore(server.config(TIMEOUT_MILLIS))) {
            String uri = store.publish("shop/1/2-1", local);
            Path model = server.file("shop/1/2-1/" + TestingPackages.MODEL_FILE);
            byte[] bytes = Files.readAllBytes(model);
            bytes[17] ^= 1;
            overwrite(model, bytes);
            assertCorrupt(store, uri, digest, temporary, "file must have the manifest's digest: package=shop/1/2-1");
            overwrite(model, Arrays.copyOf(bytes, 49_999));
            assertCorrupt(store, uri, digest, temporary, "file must have the manifest's length: package=shop/1/2-1");
            Files.delete(model);
            assertCorrupt(store, uri, digest, temporary, "file is missing from its package: package=shop/1/2-1");
            Files.delete(server.file("shop/1/2-1/" + ModelManifest.FILE_NAME));
            assertCorrupt(store, uri, digest, temporary, "manifest is missing from its package: package=shop/1/2-1");
        }
    }

    /** Keeps the attributes in which the server holds an object's metadata. */
    private static void overwrite(Path file, byte[] bytes) throws IOException {
        Files.write(file, bytes);
    }

    private static void assertCorrupt(ModelStore store, String uri, String digest, Path temporary, String message) {
        assertThatThrownBy(() -> store.fetch(uri, digest, temporary.resolve("cache")))
                .isInstanceOfSatisfying(
                        ContractException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_PACKAGE))
                .hasMessageStartingWith(message);
    }

    @Test
    void wrongCredentialsAndBucketsAreNamedWithoutTheSecret(@TempDir Path temporary) throws IOException {
        Path local = temporary.resolve("local");
        TestingPackages.write(local, 3, 100);
        String wrong = "not-the-secret-key";
        try (ModelStore store = new ModelStore(server.config(TestingS3.BUCKET, wrong, TIMEOUT_MILLIS))) {
            assertThatThrownBy(() -> store.publish("shop/1/3-1", local))
                    .isInstanceOfSatisfying(
                            ContractException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE))
                    .hasMessageStartingWith("store cannot be used: scheme=s3, operation=stat")
                    .hasMessageContaining("PermissionDenied")
                    .hasMessageNotContaining(wrong);
        }
        try (ModelStore store = new ModelStore(server.config("no-bucket", TestingS3.SECRET_KEY, TIMEOUT_MILLIS))) {
            assertThatThrownBy(() -> store.publish("shop/1/3-1", local))
                    .isInstanceOfSatisfying(
                            ContractException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE))
                    .hasMessageNotContaining(TestingS3.SECRET_KEY);
        }
    }

    @Test
    void aServerThatStopsAnsweringIsGivenUpAndUsedAgain(@TempDir Path temporary) throws Exception {
        Path local = temporary.resolve("local");
        String digest = TestingPackages.write(local, 4, LARGE_LENGTH);
        try (ModelStore patient = new ModelStore(server.config(TIMEOUT_MILLIS));
                ModelStore store = new ModelStore(server.config(500))) {
            String uri = patient.publish("shop/1/4-1", local);
            server.signal("STOP");
            try {
                assertThatThrownBy(() -> store.fetch(uri, digest, temporary.resolve("cache")))
                        .isInstanceOfSatisfying(
                                ContractException.class,
                                e -> assertThat(e.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE))
                        .hasMessageStartingWith("store must answer in time: operation=stat");
            } finally {
                server.signal("CONT");
            }
            ModelStoreTest.assertSameFiles(patient.fetch(uri, digest, temporary.resolve("cache")), local);
        }
    }

    @Test
    void aServerThatDiesDuringAPublishLeavesNoPackage(@TempDir Path temporary) throws Exception {
        Path local = temporary.resolve("local");
        TestingPackages.write(local, 5, 96 << 20);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (TestingS3 dying = TestingS3.start(temporary);
                ModelStore store = new ModelStore(dying.config(20_000))) {
            Future<String> publish = thread.submit(() -> store.publish("shop/1/5-1", local));
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> publish.isDone() || holdsFiles(temporary.resolve("s3")));
            dying.kill();
            assertThatThrownBy(publish::get)
                    .hasCauseInstanceOf(ContractException.class)
                    .cause()
                    .hasMessageContaining("operation=write, path=shop/1/5-1/model.ubj");
            assertThat(dying.file("shop/1/5-1/" + ModelManifest.FILE_NAME)).doesNotExist();
        } finally {
            thread.shutdownNow();
        }
    }

    private static boolean holdsFiles(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.anyMatch(Files::isRegularFile);
        }
    }
}
