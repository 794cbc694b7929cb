package io.millrace.region;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A fresh directory on tmpfs where there is one, removed afterwards. */
public record TestingDirectory(Path path) implements AutoCloseable {
    public static TestingDirectory create() throws IOException {
        Path memory = Path.of("/dev/shm");
        return new TestingDirectory(
                Files.isWritable(memory)
                        ? Files.createTempDirectory(memory, "millrace-test-")
                        : Files.createTempDirectory("millrace-test-"));
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> files = Files.walk(path)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> {
                try {
                    Files.deleteIfExists(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
