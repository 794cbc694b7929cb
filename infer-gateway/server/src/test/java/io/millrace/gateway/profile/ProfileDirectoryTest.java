package io.millrace.gateway.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProfileDirectoryTest {
    @TempDir
    Path directory;

    @Test
    void removesWhatKilledProcessesLeftAndNothingElse() throws Exception {
        Process ended = new ProcessBuilder("true").start();
        ended.waitFor();
        long dead = ended.pid();
        long alive = ProcessHandle.current().pid();
        Path chunk = recording("2026_11_30_20_25_28_" + dead);
        Path second = recording("2026_11_30_20_25_28_" + dead + "_1");
        Path file = Files.createFile(directory.resolve("profile-" + dead + "-1.heap"));
        Path kept = recording("2026_11_30_20_25_28_" + alive);
        Path keptFile = Files.createFile(directory.resolve("profile-" + alive + "-1.heap"));
        Path foreign = Files.createFile(directory.resolve("notes-" + dead));
        ProfileDirectory opened = ProfileDirectory.open(directory);
        assertThat(chunk.getParent()).doesNotExist();
        assertThat(second.getParent()).doesNotExist();
        assertThat(file).doesNotExist();
        assertThat(kept).exists();
        assertThat(keptFile).exists();
        assertThat(foreign).exists();
        assertThat(opened.file(".jfr").getFileName().toString()).startsWith("profile-" + alive + "-");
    }

    private Path recording(String name) throws IOException {
        return Files.createFile(Files.createDirectory(directory.resolve(name)).resolve("chunk.jfr"));
    }
}
