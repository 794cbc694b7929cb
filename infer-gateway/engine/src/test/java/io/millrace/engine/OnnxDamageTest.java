package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.ContractException;
import io.millrace.contract.Task;
import io.millrace.contract.envelope.ImportRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Damaged files, each loaded and tried as an import does it, in one process of its own. Most are refused by the runtime;
 * some are other models that load. One that takes the process down must be refused by {@link OnnxCheck} all the same.
 */
class OnnxDamageTest {
    private static final int VARIANTS = 600;
    private static final int CRASHES_MAX = 20;

    @TempDir
    Path directory;

    private static List<byte[]> models() {
        TestingGraphs trees = new TestingGraphs()
                .input("x", TestingGraphs.FLOAT, TestingGraphs.ANY, 2)
                .learnt(
                        "TreeEnsembleRegressor",
                        List.of("x"),
                        List.of("y"),
                        TestingGraphs.integers("nodes_treeids", List.of(0L, 0L, 0L)),
                        TestingGraphs.integers("nodes_nodeids", List.of(0L, 1L, 2L)),
                        TestingGraphs.integers("nodes_featureids", List.of(1L, 0L, 0L)),
                        TestingGraphs.floats("nodes_values", List.of(0.5f, 0f, 0f)),
                        TestingGraphs.texts("nodes_modes", List.of("BRANCH_LT", "LEAF", "LEAF")),
                        TestingGraphs.integers("nodes_truenodeids", List.of(1L, 0L, 0L)),
                        TestingGraphs.integers("nodes_falsenodeids", List.of(2L, 0L, 0L)),
                        TestingGraphs.integers("target_treeids", List.of(0L, 0L)),
                        TestingGraphs.integers("target_nodeids", List.of(1L, 2L)),
                        TestingGraphs.integers("target_ids", List.of(0L, 0L)),
                        TestingGraphs.floats("target_weights", List.of(1f, 2f)),
                        TestingGraphs.integer("n_targets", 1))
                .output("y", TestingGraphs.FLOAT, TestingGraphs.ANY, 1);
        TestingGraphs table = new TestingGraphs()
                .input("x", TestingGraphs.INT64, TestingGraphs.ANY, 1)
                .constant("table", new float[] {10, 11, 12, 13}, 4)
                .node("Gather", "", List.of("table", "x"), List.of("y"))
                .output("y", TestingGraphs.FLOAT, TestingGraphs.ANY, 1);
        return List.of(TestingGraphs.linear(3).bytes(), trees.bytes(), table.bytes());
    }

    /** The n-th damaged file: cut off, or with a byte or a bit of it changed. */
    private static byte[] damaged(int variant) {
        SplittableRandom random = new SplittableRandom(variant);
        byte[] model = models().get(variant % models().size());
        int at = random.nextInt(model.length);
        if (variant % 4 == 0) {
            return Arrays.copyOf(model, at);
        }
        byte[] changed = model.clone();
        changed[at] = (byte) (variant % 4 == 1 ? random.nextInt(256) : changed[at] ^ 1 << random.nextInt(8));
        return changed;
    }

    /** {@code DIRECTORY FIRST}: tries all variants from the first on, naming each before it is tried. */
    static final class TryingMain {
        private TryingMain() {}

        public static void main(String... arguments) throws IOException {
            Path directory = Path.of(arguments[0]);
            ImportRequest request = TestingImports.request(Task.REGRESSION);
            int loaded = 0;
            for (int variant = Integer.parseInt(arguments[1]); variant < VARIANTS; variant++) {
                Files.writeString(directory.resolve("variant"), Integer.toString(variant));
                Files.write(directory.resolve(Engines.ONNX_FILE), damaged(variant));
                try {
                    OnnxImport.prepare(directory, request);
                    loaded++;
                } catch (ContractException refused) {
                    // as it should be
                }
            }
            System.out.println("loaded=" + loaded);
            Runtime.getRuntime().halt(0);
        }
    }

    @Test
    void noDamagedFileGetsPastItsOwnProcess() throws Exception {
        int crashes = 0;
        int first = 0;
        while (tries(first) != 0) {
            first = Integer.parseInt(Files.readString(directory.resolve("variant"))) + 1;
            assertThat(++crashes).isLessThanOrEqualTo(CRASHES_MAX);
            assertRefused(first - 1);
        }
    }

    private int tries(int first) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:-CreateCoredumpOnCrash",
                        "-XX:ErrorFile=/dev/null",
                        "-cp",
                        System.getProperty("java.class.path"),
                        TryingMain.class.getName(),
                        directory.toString(),
                        Integer.toString(first))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("process.log").toFile())
                .start();
        try {
            assertThat(process.waitFor(300, TimeUnit.SECONDS)).isTrue();
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    private void assertRefused(int variant) throws IOException {
        Path own = Files.createDirectory(directory.resolve("variant-" + variant));
        Files.write(own.resolve(Engines.ONNX_FILE), damaged(variant));
        try {
            OnnxCheck.run(
                    own,
                    TestingImports.request(Task.REGRESSION),
                    () -> true,
                    System.nanoTime() + TimeUnit.SECONDS.toNanos(60));
            throw new AssertionError("damaged file must be refused: variant=" + variant);
        } catch (ContractException refused) {
            assertThat(refused).hasMessageStartingWith("model ends the process that loads it: exit=");
        }
    }
}
