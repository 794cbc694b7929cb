package io.millrace.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegistryTest {
    @TempDir
    private Path directory;

    private Path file() {
        return directory.resolve("registry.cm3");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void remembersAcrossOpenings() throws IOException {
        try (Registry registry = Registry.open(file())) {
            assertThat(registry.put(1, bytes("one"))).isTrue();
            assertThat(registry.put(-2, new byte[5000])).isTrue();
            assertThat(registry.put(3, bytes("three"))).isTrue();
            assertThat(registry.put(1, bytes("uno"))).isTrue();
            registry.remove(3);
            registry.remove(4);
        }
        try (Registry registry = Registry.open(file())) {
            assertThat(registry.documents()).containsOnlyKeys(1L, -2L);
            assertThat(registry.documents().get(1L)).isEqualTo(bytes("uno"));
            assertThat(registry.documents().get(-2L)).hasSize(5000);
        }
    }

    @Test
    void aDocumentThatIsTooLongIsRefused() throws IOException {
        try (Registry registry = Registry.open(file())) {
            assertThat(registry.put(1, new byte[1 << 20])).isFalse();
            assertThat(registry.documents()).isEmpty();
            assertThat(registry.put(1, bytes("one"))).isTrue();
        }
    }

    @Test
    void aDamagedFileIsRecoveredOrThrownAway() throws IOException {
        try (Registry registry = Registry.open(file())) {
            registry.put(1, bytes("one"));
        }
        byte[] whole = Files.readAllBytes(file());
        Random random = new Random(42);
        for (int round = 0; round < 6; round++) {
            byte[] damaged = whole.clone();
            int from = round < 3 ? random.nextInt(4096) : random.nextInt(whole.length);
            byte[] noise = new byte[Math.min(64, whole.length - from)];
            random.nextBytes(noise);
            System.arraycopy(noise, 0, damaged, from, noise.length);
            assertUsable(damaged, "noise at " + from);
        }
        for (int length : new int[] {0, 100, whole.length / 2, whole.length - 1}) {
            assertUsable(Arrays.copyOf(whole, length), "length " + length);
        }
    }

    /** As when its first owner was killed over it. */
    @Test
    void aFileThatWasNotFinishedIsMadeAnew() throws IOException {
        Path unfinished = file().resolveSibling(file().getFileName() + ".new");
        Files.write(unfinished, new byte[100]);
        try (Registry registry = Registry.open(file())) {
            assertThat(registry.put(1, new byte[] {1})).isTrue();
        }
        assertThat(unfinished).doesNotExist();
    }

    private void assertUsable(byte[] content, String what) throws IOException {
        Files.write(file(), content);
        try (Registry registry = Registry.open(file())) {
            assertThat(registry.put(7, bytes("seven"))).as(what).isTrue();
            assertThat(registry.documents().get(7L)).as(what).isEqualTo(bytes("seven"));
        }
    }

    @Test
    void aKilledWriterLeavesWholeDocumentsOnly() throws Exception {
        for (int round = 0; round < 3; round++) {
            Process writer = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "@"
                                    + Path.of("../../infer-gateway/server/src/main/jvm/gateway.jvmflags")
                                            .toAbsolutePath(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            Writer.class.getName(),
                            file().toString())
                    .inheritIO()
                    .start();
            Path started = directory.resolve("registry.cm3.started");
            try {
                await().atMost(Duration.ofMinutes(2)).until(() -> Files.exists(started) || !writer.isAlive());
                assertThat(writer.isAlive()).isTrue();
            } finally {
                writer.destroyForcibly().waitFor();
            }
            Files.delete(started);
            try (Registry registry = Registry.open(file())) {
                for (Map.Entry<Long, byte[]> entry : registry.documents().entrySet()) {
                    assertThat(entry.getValue())
                            .isEqualTo(Writer.document(
                                    ByteBuffer.wrap(entry.getValue()).getLong(0)));
                }
                assertThat(registry.put(1000, bytes("next"))).isTrue();
                registry.remove(1000);
            }
        }
    }

    /** Writes without end. */
    static final class Writer {
        private Writer() {}

        static byte[] document(long number) {
            byte[] document = new byte[Long.BYTES + (int) (number * 37 % 900)];
            Arrays.fill(document, (byte) number);
            ByteBuffer.wrap(document).putLong(0, number);
            return document;
        }

        public static void main(String[] arguments) throws IOException {
            Registry registry = Registry.open(Path.of(arguments[0]));
            for (long number = 0; ; number++) {
                registry.put(number % 50, document(number));
                if (number % 7 == 0) {
                    registry.remove(number % 50);
                }
                if (number == 20_000) {
                    Files.createFile(Path.of(arguments[0] + ".started"));
                }
            }
        }
    }
}
