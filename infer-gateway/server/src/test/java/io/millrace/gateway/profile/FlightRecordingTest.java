package io.millrace.gateway.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FlightRecordingTest {
    @TempDir
    Path root;

    private Path directory;
    private Path file;

    @BeforeEach
    void prepare() throws IOException {
        directory = Files.createDirectory(root.resolve("own"));
        file = Files.createTempFile(root, "profile-", ".jfr");
    }

    private ProfileConfig config(long diskBytes) {
        return new ProfileConfig(true, Duration.ofMillis(10), diskBytes, root);
    }

    private long samples(FlightRecording recording) throws IOException {
        recording.copy(Instant.EPOCH, file);
        return new RecordingReader(file, Instant.EPOCH, 1_000).heap().sampleCount();
    }

    @Test
    void aProfileReachesBackBeyondTheOneBefore() throws IOException {
        try (FlightRecording recording = FlightRecording.start(config(4 << 20), directory)) {
            await().atMost(60, TimeUnit.SECONDS).until(() -> {
                assertThat(new byte[1 << 20]).isNotEmpty();
                return samples(recording) > 100;
            });
            assertThat(samples(recording)).isGreaterThan(100);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
        }
    }

    @Test
    void writesNothingToADiskThatIsTooFull() throws IOException {
        long bytes = Long.MAX_VALUE / 8;
        try (FlightRecording recording = FlightRecording.start(config(bytes), directory)) {
            assertThatThrownBy(() -> recording.copy(Instant.EPOCH, file))
                    .isInstanceOf(ProfileException.class)
                    .hasMessageMatching("disk is too full to profile: directory=" + directory
                            + ", usableBytes=[0-9]+, min=" + 4 * bytes);
            assertThat(directory).as("JFR's directory").isEmptyDirectory();
            assertThat(file).isEmptyFile();
        }
    }

    @Test
    void endsWhenItWouldGoElsewhere() throws IOException {
        // To JFR's command interface this is the directory "own" and one more setting.
        Path unusable = Files.createDirectory(root.resolve("own\" samplethreads=\"true"));
        assertThatThrownBy(() -> FlightRecording.start(config(4 << 20), unusable))
                .isInstanceOf(IOException.class)
                .hasMessage("JFR does not use the directory that it was given: directory=" + unusable);
    }
}
