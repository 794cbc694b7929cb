package io.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Sha256;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelStoreTest {
    private static final String DIRECTORY = "shop/1/7-1";
    private static final String URI = "store:" + DIRECTORY;
    private static final int MODEL_LENGTH = 70_000;

    @TempDir
    Path temporary;

    private Path root;
    private Path local;
    private Path cache;
    private ModelStore store;
    private String digest;

    @BeforeEach
    void open() throws IOException {
        root = Files.createDirectory(temporary.resolve("store"));
        local = temporary.resolve("local");
        cache = temporary.resolve("cache");
        digest = TestingPackages.write(local, 1, MODEL_LENGTH);
        store = new ModelStore(TestingPackages.files(root));
    }

    @AfterEach
    void close() {
        store.close();
    }

    private Path stored(String name) {
        return root.resolve(DIRECTORY).resolve(name);
    }

    @Test
    void fetchesWhatWasPublished() throws IOException {
        assertThat(store.exists(URI)).isFalse();
        assertThat(store.publish(DIRECTORY, local)).isEqualTo(URI);
        assertThat(store.exists(URI)).isTrue();
        Path fetched = store.fetch(URI, digest, cache);
        assertThat(fetched).isEqualTo(cache.resolve(digest));
        assertSameFiles(fetched, local);
        assertThat(names(cache)).containsExactly(digest);
        store.delete(URI);
        assertThat(store.exists(URI)).isFalse();
        assertThat(root.resolve(DIRECTORY)).doesNotExist();
        store.delete(URI);
    }

    @Test
    void packagesLargerThanAChunkArriveWhole() throws IOException {
        String large = TestingPackages.write(local, 2, 2 * ObjectStore.CHUNK_LENGTH + 12_345);
        store.publish(DIRECTORY, local);
        assertSameFiles(store.fetch(URI, large, cache), local);
    }

    @Test
    void anEmptyFileIsAFile() throws IOException {
        String empty = TestingPackages.write(local, 2, 0);
        store.publish(DIRECTORY, local);
        assertSameFiles(store.fetch(URI, empty, cache), local);
    }

    @Test
    void publishingAgainIsHarmlessButNotWithAnotherPackage() throws IOException {
        store.publish(DIRECTORY, local);
        assertThat(store.publish(DIRECTORY, local)).isEqualTo(URI);
        String other = TestingPackages.write(local, 2, MODEL_LENGTH);
        assertRefused(
                () -> store.publish(DIRECTORY, local),
                ErrorCode.INVALID_VALUE,
                "package directory must be new: directory=shop/1/7-1, presentManifest=" + digest + ", newManifest="
                        + other);
        assertThat(store.fetch(URI, digest, cache)).isDirectory();
    }

    @Test
    void publishingOverTheRemainsOfACrashIsHarmless() throws IOException {
        Files.createDirectories(root.resolve(DIRECTORY));
        Files.write(stored(TestingPackages.MODEL_FILE), new byte[] {1, 2, 3});
        assertThat(store.exists(URI)).isFalse();
        store.publish(DIRECTORY, local);
        assertSameFiles(store.fetch(URI, digest, cache), local);
    }

    @Test
    void refusesAPackageWithoutManifest() throws IOException {
        store.publish(DIRECTORY, local);
        Files.delete(stored(ModelManifest.FILE_NAME));
        assertRefused(
                () -> store.fetch(URI, digest, cache),
                ErrorCode.CORRUPT_PACKAGE,
                "manifest is missing from its package: package=shop/1/7-1, file=manifest.json, expectedSha256="
                        + digest);
    }

    @Test
    void refusesAnotherManifest() throws IOException {
        store.publish(DIRECTORY, local);
        Files.writeString(stored(ModelManifest.FILE_NAME), "{}");
        assertRefused(
                () -> store.fetch(URI, digest, cache),
                ErrorCode.CORRUPT_PACKAGE,
                "manifest must have the digest of its deployment: package=shop/1/7-1, file=manifest.json, expectedSha256="
                        + digest + ", actualSha256="
                        + Sha256.hex("{}".getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void refusesAnUnknownVersion() throws IOException {
        store.publish(DIRECTORY, local);
        String manifest = Files.readString(stored(ModelManifest.FILE_NAME))
                .replace("\"format-version\":1", "\"format-version\":2");
        Files.writeString(stored(ModelManifest.FILE_NAME), manifest);
        String newer = Sha256.hex(stored(ModelManifest.FILE_NAME));
        assertRefused(
                () -> store.fetch(URI, newer, cache),
                ErrorCode.UNKNOWN_VERSION,
                "manifest version is unknown: version=2, expectedVersion=1");
    }

    @Test
    void refusesATruncatedFile() throws IOException {
        store.publish(DIRECTORY, local);
        byte[] model = Files.readAllBytes(stored(TestingPackages.MODEL_FILE));
        Files.write(stored(TestingPackages.MODEL_FILE), Arrays.copyOf(model, 69_999));
        assertRefused(
                () -> store.fetch(URI, digest, cache),
                ErrorCode.CORRUPT_PACKAGE,
                "file must have the manifest's length: package=shop/1/7-1, file=model.ubj, expectedBytes=70000, actualBytes=69999");
    }

    @Test
    void refusesAnAlteredFile() throws IOException {
        store.publish(DIRECTORY, local);
        String before = Sha256.hex(stored(TestingPackages.MODEL_FILE));
        byte[] model = Files.readAllBytes(stored(TestingPackages.MODEL_FILE));
        model[33_333] ^= 1;
        Files.write(stored(TestingPackages.MODEL_FILE), model);
        assertRefused(
                () -> store.fetch(URI, digest, cache),
                ErrorCode.CORRUPT_PACKAGE,
                "file must have the manifest's digest: package=shop/1/7-1, file=model.ubj, expectedSha256=" + before
                        + ", actualSha256=" + Sha256.hex(model));
    }

    @Test
    void refusesAMissingFile() throws IOException {
        store.publish(DIRECTORY, local);
        Files.delete(stored(TestingPackages.MODEL_FILE));
        assertRefused(
                () -> store.fetch(URI, digest, cache),
                ErrorCode.CORRUPT_PACKAGE,
                "file is missing from its package: package=shop/1/7-1, file=model.ubj, expectedBytes=70000");
    }

    @Test
    void refusesAnExtraFile() throws IOException {
        store.publish(DIRECTORY, local);
        Files.writeString(stored("plugin.so"), "x");
        assertRefused(
                () -> store.fetch(URI, digest, cache),
                ErrorCode.CORRUPT_PACKAGE,
                "package cannot hold a file its manifest does not name: package=shop/1/7-1, file=plugin.so");
    }

    @Test
    void refusesAbsurdSizesBeforeReading() throws IOException {
        store.publish(DIRECTORY, local);
        List<ModelManifest.FileEntry> files =
                List.of(new ModelManifest.FileEntry(TestingPackages.MODEL_FILE, Long.MAX_VALUE, "0".repeat(64)));
        String absurd = TestingPackages.writeManifest(root.resolve(DIRECTORY), TestingPackages.manifest(1, files));
        assertRefused(
                () -> store.fetch(URI, absurd, cache),
                ErrorCode.MODEL_TOO_LARGE,
                "package must be within its limit: package=shop/1/7-1, file=model.ubj, actualBytes=9223372036854775807, limitBytes=2147483648");
        Files.write(stored(ModelManifest.FILE_NAME), new byte[(4 << 20) + 1]);
        assertRefused(
                () -> store.fetch(URI, absurd, cache),
                ErrorCode.MODEL_TOO_LARGE,
                "manifest must be within its limit: package=shop/1/7-1, actualBytes=4194305, limitBytes=4194304");
    }

    @Test
    void theLimitHoldsForPublishingToo() {
        StoreConfig small = new StoreConfig("fs", Map.of("root", root.toString()), 30_000, 70_001, 1 << 20);
        try (ModelStore limited = new ModelStore(small)) {
            assertRefused(
                    () -> limited.publish(DIRECTORY, local),
                    ErrorCode.MODEL_TOO_LARGE,
                    "package must be within its limit: package=" + local
                            + ", file=fitted.json, actualBytes=70002, limitBytes=70001");
        }
        assertThat(root.resolve(DIRECTORY)).doesNotExist();
    }

    @Test
    void refusesToPublishWhatItsManifestDoesNotSay() throws IOException {
        Files.writeString(local.resolve("evaluation.csv"), "key,label,score!");
        assertRefused(
                () -> store.publish(DIRECTORY, local),
                ErrorCode.CORRUPT_PACKAGE,
                "file must have the manifest's digest: package=" + local + ", file=evaluation.csv, expectedSha256="
                        + Sha256.hex("key,label,score\n".getBytes(StandardCharsets.UTF_8))
                        + ", actualSha256=" + Sha256.hex(local.resolve("evaluation.csv")));
        Files.delete(local.resolve(ModelManifest.FILE_NAME));
        assertRefused(
                () -> store.publish(DIRECTORY, local),
                ErrorCode.CORRUPT_PACKAGE,
                "manifest is missing from its package: package=" + local);
        assertThat(store.exists(URI)).isFalse();
    }

    @Test
    void aRefusedPackageLeavesNothingInTheCache() throws IOException {
        store.publish(DIRECTORY, local);
        Files.delete(stored(TestingPackages.MODEL_FILE));
        assertThatThrownBy(() -> store.fetch(URI, digest, cache)).isInstanceOf(ContractException.class);
        assertThat(names(cache)).isEmpty();
    }

    @Test
    void aDamagedCopyIsFetchedAgain() throws IOException {
        store.publish(DIRECTORY, local);
        Path fetched = store.fetch(URI, digest, cache);
        Files.write(fetched.resolve(TestingPackages.MODEL_FILE), new byte[MODEL_LENGTH]);
        assertSameFiles(store.fetch(URI, digest, cache), local);
        Files.delete(fetched.resolve(ModelManifest.FILE_NAME));
        assertSameFiles(store.fetch(URI, digest, cache), local);
        assertThat(names(cache)).containsExactly(digest);
        assertThat(store.transferCount()).isEqualTo(3);
    }

    @Test
    void aSoundCopyNeedsNoStore() throws IOException {
        store.publish(DIRECTORY, local);
        Path fetched = store.fetch(URI, digest, cache);
        store.delete(URI);
        assertThat(store.fetch(URI, digest, cache)).isEqualTo(fetched);
        assertThat(store.transferCount()).isEqualTo(1);
    }

    @Test
    void removesOldRemainsOfOtherProcessesOnly() throws IOException {
        store.publish(DIRECTORY, local);
        Path old = Files.createDirectories(cache.resolve(".fetch-old"));
        Files.writeString(old.resolve("part"), "x");
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofHours(2))));
        Path fresh = Files.createDirectories(cache.resolve(".fetch-fresh"));
        store.fetch(URI, digest, cache);
        assertThat(old).doesNotExist();
        assertThat(fresh).exists();
    }

    @Test
    void theLongestUnusedPackagesLeaveTheCache() throws IOException {
        long room = 2 * MODEL_LENGTH + 10_000;
        StoreConfig config = new StoreConfig("fs", Map.of("root", root.toString()), 30_000, 1 << 20, room);
        Instant longAgo = Instant.now().minus(Duration.ofHours(1));
        List<String> digests = new ArrayList<>();
        try (ModelStore small = new ModelStore(config)) {
            for (int run = 0; run < 4; run++) {
                digests.add(TestingPackages.write(local, run, MODEL_LENGTH));
                Path copy = small.fetch(small.publish("shop/1/" + run + "-1", local), digests.get(run), cache);
                Instant used = longAgo.plusSeconds(run == 0 ? 9 : run);
                Files.setLastModifiedTime(copy, FileTime.from(used));
            }
            assertThat(names(cache)).containsExactlyInAnyOrder(digests.get(0), digests.get(3));
        }
    }

    @Test
    void concurrentFetchesShareOneTransfer() throws Exception {
        int callers = 16;
        String large = TestingPackages.write(local, 3, 3 * ObjectStore.CHUNK_LENGTH);
        store.publish(DIRECTORY, local);
        ExecutorService threads = Executors.newFixedThreadPool(callers);
        try {
            CountDownLatch start = new CountDownLatch(1);
            List<Future<Path>> fetches = new ArrayList<>();
            for (int caller = 0; caller < callers; caller++) {
                fetches.add(threads.submit(() -> {
                    start.await();
                    return store.fetch(URI, large, cache);
                }));
            }
            start.countDown();
            for (Future<Path> fetch : fetches) {
                assertThat(fetch.get()).isEqualTo(cache.resolve(large));
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(store.transferCount()).isEqualTo(1);
        assertSameFiles(cache.resolve(large), local);
    }

    @Test
    void storesOfTwoProcessesMayShareACache() throws Exception {
        store.publish(DIRECTORY, local);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (ModelStore other = new ModelStore(TestingPackages.files(root))) {
            for (int round = 0; round < 20; round++) {
                Path shared = temporary.resolve("cache-" + round);
                Future<Path> first = threads.submit(() -> store.fetch(URI, digest, shared));
                Future<Path> second = threads.submit(() -> other.fetch(URI, digest, shared));
                assertThat(first.get()).isEqualTo(second.get());
                assertSameFiles(first.get(), local);
                assertThat(names(shared)).containsExactly(digest);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void refusesPathsThatLeaveTheStore() {
        for (String directory :
                List.of("../other", "a/../../b", "/etc", "a//b", "", ".", "a/.hidden", "a/b\\c", "a\nb")) {
            assertThatThrownBy(() -> store.publish(directory, local))
                    .as(directory)
                    .isInstanceOfSatisfying(
                            ContractException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_VALUE));
            assertThatThrownBy(() -> store.fetch("store:" + directory, digest, cache))
                    .isInstanceOf(ContractException.class)
                    .hasMessageStartingWith("model directory must be a relative path of plain segments: directory=");
        }
        assertRefused(
                () -> store.fetch("file:///etc", digest, cache),
                ErrorCode.INVALID_VALUE,
                "model uri must begin with store:: uri=file:///etc");
        assertRefused(
                () -> store.fetch(URI, "../../x", cache),
                ErrorCode.INVALID_VALUE,
                "manifest digest must be 64 hexadecimal digits: length=7");
    }

    @Test
    void anyDatabaseNameMakesAPlainDirectory() throws IOException {
        String directory = ModelStore.directory("My \"Shop\"/../🚀.", 12, 34, 2);
        assertThat(directory).isEqualTo("My%20%22Shop%22%2F%2E%2E%2F%F0%9F%9A%80%2E/12/34-2");
        String uri = store.publish(directory, local);
        assertSameFiles(store.fetch(uri, digest, cache), local);
    }

    @Test
    void aDiskThatCannotBeWrittenIsNamed() throws IOException {
        store.publish(DIRECTORY, local);
        Path file = Files.writeString(temporary.resolve("not-a-directory"), "");
        assertThatThrownBy(() -> store.fetch(URI, digest, file))
                .isInstanceOfSatisfying(
                        ContractException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.IO_FAILED))
                .hasMessageStartingWith("package cannot be written to the cache: path=" + file.resolve(digest));
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        }
    }

    static void assertSameFiles(Path actual, Path expected) throws IOException {
        assertThat(names(actual)).isEqualTo(names(expected));
        for (String name : names(expected)) {
            assertThat(actual.resolve(name)).hasSameBinaryContentAs(expected.resolve(name));
        }
    }

    private static void assertRefused(ThrowingCallable call, ErrorCode code, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        ContractException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessage(message);
    }
}
