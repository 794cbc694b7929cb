package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobSettingsTest {

    @Test
    void readsTheDatabaseAndHidesItsPassword(@TempDir Path directory) throws IOException {
        Path secret = Files.writeString(directory.resolve("secret"), "hush\n");
        Files.writeString(
                directory.resolve("database.properties"),
                "database-host=db.example\ndatabase-port=6543\ndatabase-password=file:" + secret + "\n");
        JobSettings settings = JobSettings.parse("--run-id", "42", "--conf", directory.toString());
        assertThat(settings.required("run-id")).isEqualTo("42");
        assertThat(settings.argument("absent")).isEmpty();
        DatabaseConnections database = settings.database();
        assertThat(database.url()).isEqualTo("jdbc:postgresql://db.example:6543/postgres");
        assertThat(database.password()).isEqualTo("hush");
        assertThat(database.toString()).doesNotContain("hush");
    }

    @Test
    void saysWhichArgumentIsWrong(@TempDir Path directory) {
        assertThatThrownBy(() -> JobSettings.parse("--conf", "x", "--run-id"))
                .hasMessage("arguments must be pairs of --name value: argument=--run-id");
        assertThatThrownBy(() -> JobSettings.parse("--run-id", "1"))
                .hasMessage("argument --conf DIR must be given: it names the configuration directory");
        JobSettings settings = JobSettings.parse("--conf", directory.toString());
        assertThatThrownBy(() -> settings.required("run-id")).hasMessage("argument must be given: --run-id");
        assertThatThrownBy(() -> settings.file("lake"))
                .hasMessage("configuration file must exist: path=" + directory.resolve("lake.properties"));
    }

    @Test
    void refusesAJobIdThatTheClusterWouldNotTake() {
        assertThatThrownBy(() -> JobSubmission.of("42", "Main", List.of()))
                .hasMessage("job id must be 32 lower-case hexadecimal digits: jobId=42");
    }

    @Test
    void findsTheInnermostCauseOfAStackTrace() {
        String trace = """
                java.lang.RuntimeException: outer
                \tat a.B.c(B.java:1)
                Caused by: java.sql.SQLException: relation is gone
                \tat d.E.f(E.java:2)
                \t... 3 more
                """;
        assertThat(FlinkRest.rootCause(trace)).isEqualTo("relation is gone");
        assertThat(FlinkRest.rootCause("java.lang.OutOfMemoryError")).isEqualTo("java.lang.OutOfMemoryError");
    }
}
