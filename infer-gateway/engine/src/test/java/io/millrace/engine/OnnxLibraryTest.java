package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OnnxLibraryTest {
    private static final int EXIT = 7;

    @TempDir
    Path directory;

    @Test
    void leavesNoFileBehind() throws IOException {
        assertThat(OnnxLibrary.environment()).isSameAs(OnnxLibrary.environment());
        List<String> mapped;
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            mapped = lines.filter(line -> line.contains("libonnxruntime"))
                    .map(line -> line.substring(line.indexOf('/')))
                    .distinct()
                    .toList();
        }
        assertThat(mapped).hasSize(2).allMatch(line -> line.endsWith("(deleted)"));
        assertThat(Path.of(mapped.get(0)).getParent()).doesNotExist();
    }

    /** Ends in order while its threads still score: as a gateway that drains. */
    static final class DrainingMain {
        private DrainingMain() {}

        public static void main(String... arguments) throws Exception {
            Scorer scorer = TestingImports.load(Path.of(arguments[0]));
            for (int thread = 0; thread < 2; thread++) {
                Thread scoring = new Thread(() -> {
                    float[] out = new float[100];
                    while (true) {
                        scorer.score(new float[300], 100, out);
                    }
                });
                scoring.setDaemon(true);
                scoring.start();
            }
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                float[] out = new float[100];
                long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500);
                while (System.nanoTime() - end < 0) {
                    scorer.score(new float[300], 100, out);
                }
                // Loading asks the environment itself, so this fails at once when it is gone.
                System.out.println("renewed=" + scorer.renew());
                System.out.println("drained");
                // The others score on to the end; only the process ends them.
                Runtime.getRuntime().halt(EXIT);
            }));
            System.exit(0);
        }
    }

    @Test
    void theRuntimesShutdownHookFreesNothingUnderRunningCalls() throws Exception {
        TestingImports.write(directory, TestingGraphs.linear(3), TestingImports.request(Task.REGRESSION));
        Path log = directory.resolve("process.log");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        DrainingMain.class.getName(),
                        directory.toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(Files.readString(log)).endsWith("renewed=true\ndrained\n");
            assertThat(process.exitValue()).isEqualTo(EXIT);
        } finally {
            process.destroyForcibly();
        }
    }
}
