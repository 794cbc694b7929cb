package io.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class OpenDalLibraryTest {
    @Test
    void leavesNoFileBehind() throws IOException {
        OpenDalLibrary.load();
        OpenDalLibrary.load();
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            assertThat(lines.filter(line -> line.contains("opendal_java")))
                    .isNotEmpty()
                    .allMatch(line -> line.endsWith("(deleted)"));
        }
    }
}
