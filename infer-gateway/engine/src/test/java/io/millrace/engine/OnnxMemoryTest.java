package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;

/** What a model takes it gives back: only with {@code scripts/test --full}, since it takes a while. */
@EnabledIfEnvironmentVariable(named = "MILLRACE_TEST_FULL", matches = "1")
class OnnxMemoryTest {
    private static final int WIDTH = 256;
    private static final int WARM_CYCLES = 40;
    private static final int CYCLES = 200;
    private static final double GROWTH_MAX = 1.05;

    @TempDir
    Path directory;

    private void cycle() throws IOException {
        try (Scorer scorer = TestingImports.load(directory)) {
            float[] out = new float[64];
            scorer.score(new float[64 * WIDTH], 64, out);
            scorer.score(new float[WIDTH], 1, out);
            assertThat(scorer.renew()).isTrue();
        }
    }

    private static long residentBytes() throws IOException {
        System.gc();
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) << 10)
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void twoHundredLoadsLeaveNothing() throws Exception {
        TestingGraphs graph = new TestingGraphs().input("x", TestingGraphs.FLOAT, TestingGraphs.ANY, WIDTH);
        String last = "x";
        for (int layer = 0; layer < 8; layer++) {
            graph.gemm(last, WIDTH, WIDTH, "z" + layer);
            last = "z" + layer;
        }
        graph.gemm(last, WIDTH, 1, "y").output("y", TestingGraphs.FLOAT, TestingGraphs.ANY, 1);
        TestingImports.write(directory, graph, TestingImports.request(Task.REGRESSION));
        for (int warm = 0; warm < WARM_CYCLES; warm++) {
            cycle();
        }
        long before = residentBytes();
        for (int round = 0; round < CYCLES; round++) {
            cycle();
        }
        assertThat((double) residentBytes() / before).isLessThanOrEqualTo(GROWTH_MAX);
    }
}
