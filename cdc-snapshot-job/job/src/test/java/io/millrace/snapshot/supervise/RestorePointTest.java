package io.millrace.snapshot.supervise;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.FlinkRest;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RestorePointTest {
    private static final String JOB = "0123456789abcdef0123456789abcdef";
    private static final String OTHER = "f123456789abcdef0123456789abcdef";

    @TempDir
    Path directory;

    private RestorePoint restorePoint;

    @BeforeEach
    void create() {
        restorePoint = new RestorePoint(
                new FlinkRest(URI.create("http://127.0.0.1:1"), Duration.ofSeconds(1)),
                directory.resolve("checkpoints").toUri().toString(),
                directory.resolve("savepoints").toUri().toString());
    }

    private Path finished(String path, long second) throws IOException {
        Path state = Files.createDirectories(directory.resolve(path));
        Path metadata = Files.writeString(state.resolve("_metadata"), "");
        Files.setLastModifiedTime(metadata, FileTime.fromMillis(second * 1000));
        return state;
    }

    @Test
    void findsTheNewestThatIsFinished() throws IOException {
        assertThat(restorePoint.newestOwn(JOB)).isEmpty();
        finished("savepoints/" + JOB + "/savepoint-a", 10);
        Path newest = finished("checkpoints/" + JOB + "/chk-7", 20);
        finished("checkpoints/" + OTHER + "/chk-9", 30);
        Files.createDirectories(directory.resolve("checkpoints/" + JOB + "/chk-8"));
        assertThat(restorePoint.newestOwn(JOB))
                .map(path -> Path.of(URI.create(path)))
                .contains(newest);
    }

    @Test
    void deletesWhatOneJobLeftAndNothingElse() throws IOException {
        finished("savepoints/" + JOB + "/savepoint-a", 10);
        finished("checkpoints/" + JOB + "/chk-7", 20);
        Path kept = finished("checkpoints/" + OTHER + "/chk-9", 30);
        restorePoint.delete(JOB);
        restorePoint.delete(JOB);
        assertThat(directory.resolve("savepoints/" + JOB)).doesNotExist();
        assertThat(directory.resolve("checkpoints/" + JOB)).doesNotExist();
        assertThat(kept.resolve("_metadata")).exists();
    }
}
