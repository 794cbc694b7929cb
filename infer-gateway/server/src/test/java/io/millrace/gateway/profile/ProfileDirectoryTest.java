package io.millrace.gateway.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProfileDirectoryTest {
    @TempDir
    Path directory;

    /** Another process that has a directory until it is killed. */
    static final class Owner {
        private Owner() {}

        public static void main(String[] arguments) throws Exception {
            ProfileDirectory own = ProfileDirectory.open(Path.of(arguments[0]));
            Files.createDirectory(own.path().resolve("jfr"));
            Files.createFile(own.path().resolve("jfr/chunk.jfr"));
            own.file(".heap");
            System.out.println(own.path());
            Thread.sleep(Long.MAX_VALUE);
        }
    }

    @Test
    void removesWhatKilledProcessesLeftAndNothingElse() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Owner.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
                ProfileDirectory first = ProfileDirectory.open(directory)) {
            Path others = Path.of(out.readLine());
            Path foreign = Files.createDirectory(directory.resolve("notes"));
            try (ProfileDirectory second = ProfileDirectory.open(directory)) {
                assertThat(others.resolve("jfr/chunk.jfr"))
                        .as("of a process that runs")
                        .exists();
                assertThat(second.path()).isNotEqualTo(first.path());
            }
            process.destroyForcibly().waitFor();
            try (ProfileDirectory third = ProfileDirectory.open(directory)) {
                assertThat(others).as("of a killed process").doesNotExist();
                assertThat(first.path()).as("of this process").exists();
                assertThat(third.path()).exists();
                assertThat(foreign).exists();
            }
        } finally {
            process.destroyForcibly();
        }
        try (var left = Files.list(directory)) {
            assertThat(left.map(Path::getFileName)).containsExactly(Path.of("notes"));
        }
    }

    @Test
    void filesAreReadableByTheirOwnerOnly() throws IOException {
        try (ProfileDirectory opened = ProfileDirectory.open(directory)) {
            Path file = opened.file(".jfr");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
            assertThat(file.getParent()).isEqualTo(opened.path());
        }
    }
}
