package io.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.contract.ModelManifest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A publisher killed at any point leaves no package that a reader can see, and the next attempt succeeds. */
class KilledPublisherTest {
    private static final String DIRECTORY = "shop/1/7-1";

    @TempDir
    Path temporary;

    /** Runs in its own process: publishes one package. */
    static final class PublisherMain {
        private PublisherMain() {}

        public static void main(String... arguments) {
            try (ModelStore store = new ModelStore(TestingPackages.files(Path.of(arguments[0])))) {
                System.out.println("publishing");
                store.publish(DIRECTORY, Path.of(arguments[1]));
            }
        }
    }

    @Test
    void leavesNothingVisible() throws Exception {
        Path root = Files.createDirectory(temporary.resolve("store"));
        Path local = temporary.resolve("local");
        String digest = TestingPackages.write(local, 1, 128 << 20);
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process publisher = new ProcessBuilder(List.of(
                        java,
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        PublisherMain.class.getName(),
                        root.toString(),
                        local.toString()))
                .redirectErrorStream(true)
                .redirectOutput(temporary.resolve("publisher.log").toFile())
                .start();
        try {
            await().atMost(Duration.ofSeconds(60))
                    .pollInterval(Duration.ofMillis(2))
                    .until(() -> bytesUnder(root) > 0 || !publisher.isAlive());
            assertThat(publisher.isAlive())
                    .as(Files.readString(temporary.resolve("publisher.log")))
                    .isTrue();
        } finally {
            publisher.destroyForcibly();
            assertThat(publisher.waitFor(30, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(root.resolve(DIRECTORY).resolve(ModelManifest.FILE_NAME)).doesNotExist();
        try (ModelStore store = new ModelStore(TestingPackages.files(root))) {
            assertThat(store.exists("store:" + DIRECTORY)).isFalse();
            String uri = store.publish(DIRECTORY, local);
            ModelStoreTest.assertSameFiles(store.fetch(uri, digest, temporary.resolve("cache")), local);
        }
    }

    private static long bytesUnder(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            long bytes = 0;
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                bytes += Files.exists(file) ? Files.size(file) : 0;
            }
            return bytes;
        } catch (NoSuchFileException | UncheckedIOException moved) {
            return 1;
        }
    }
}
