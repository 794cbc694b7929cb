package io.millrace.engine;

import static io.millrace.engine.TestingGraphs.ANY;
import static io.millrace.engine.TestingGraphs.DOUBLE;
import static io.millrace.engine.TestingGraphs.FLOAT;
import static io.millrace.engine.TestingGraphs.INT64;
import static io.millrace.engine.TestingGraphs.STRING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Task;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.fitted.RawRows;
import io.millrace.contract.fitted.RawTransform;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import ml.dmlc.xgboost4j.java.Booster;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OnnxScorerTest {
    private static final int WIDTH = 5;
    private static final int ROW_COUNT = 40;

    @TempDir
    Path directory;

    private static float[] rows(int rowCount, int width) {
        float[] rows = new float[rowCount * width];
        for (int index = 0; index < rows.length; index++) {
            rows[index] = (float) Math.sin(index * 0.7) * 2;
        }
        return rows;
    }

    private static float[] row(float[] rows, int row) {
        return Arrays.copyOfRange(rows, row * WIDTH, (row + 1) * WIDTH);
    }

    private Scorer imported(TestingGraphs graph, Task task) throws Exception {
        assertThat(TestingImports.write(directory, graph, TestingImports.request(task)))
                .isEmpty();
        return TestingImports.load(directory);
    }

    private static void assertLinear(Scorer scorer) {
        float[] rows = rows(ROW_COUNT, WIDTH);
        float[] out = new float[ROW_COUNT];
        scorer.score(rows, ROW_COUNT, out);
        float[] one = new float[1];
        for (int row = 0; row < ROW_COUNT; row++) {
            assertThat(out[row]).isCloseTo(TestingGraphs.linearAnswer(row(rows, row)), within(1e-5f));
            scorer.score(row(rows, row), 1, one);
            assertThat(one[0]).isCloseTo(out[row], within(1e-6f));
        }
    }

    private static void assertSoftmax(Scorer scorer, int classes, int[] labelOfColumn) {
        float[] rows = rows(ROW_COUNT, WIDTH);
        float[] out = new float[ROW_COUNT * scorer.outputs()];
        scorer.score(rows, ROW_COUNT, out);
        for (int row = 0; row < ROW_COUNT; row++) {
            double[] expected = TestingGraphs.softmaxAnswer(classes, row(rows, row));
            for (int column = 0; column < classes; column++) {
                if (classes > 2) {
                    assertThat((double) out[row * classes + labelOfColumn[column]])
                            .isCloseTo(expected[column], within(1e-5));
                } else if (labelOfColumn[column] == 1) {
                    assertThat((double) out[row]).isCloseTo(expected[column], within(1e-5));
                }
            }
        }
    }

    @Test
    void answersARegression() throws Exception {
        try (Scorer scorer = imported(TestingGraphs.linear(WIDTH), Task.REGRESSION)) {
            assertThat(scorer.width()).isEqualTo(WIDTH);
            assertThat(scorer.outputs()).isEqualTo(1);
            assertThat(scorer.rawColumns()).isEmpty();
            assertThat(scorer.residentBytes()).isGreaterThan(3 * Files.size(directory.resolve(Engines.ONNX_FILE)));
            assertLinear(scorer);
        }
    }

    @Test
    void takesAndAnswersDoubles() throws Exception {
        TestingGraphs graph = new TestingGraphs()
                .input("x", DOUBLE, ANY, WIDTH)
                .node("Cast", "", List.of("x"), List.of("xf"), TestingGraphs.integer("to", FLOAT))
                .gemm("xf", WIDTH, 1, "yf")
                .node("Cast", "", List.of("yf"), List.of("yd"), TestingGraphs.integer("to", DOUBLE))
                .output("yd", DOUBLE, ANY, 1);
        try (Scorer scorer = imported(graph, Task.REGRESSION)) {
            assertLinear(scorer);
        }
    }

    @Test
    void answersOfOneDimensionAndOfNoShapeAreRead() throws Exception {
        TestingGraphs flat = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .gemm("x", WIDTH, 1, "y")
                .constant("shape", new long[] {-1}, 1)
                .node("Reshape", "", List.of("y", "shape"), List.of("flat"))
                .output("flat", FLOAT, ANY);
        try (Scorer scorer = imported(flat, Task.REGRESSION)) {
            assertLinear(scorer);
        }
        TestingGraphs open = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .gemm("x", WIDTH, 1, "y")
                .constant("shape", new long[] {-1, 1}, 2)
                .node("Reshape", "", List.of("y", "shape"), List.of("open"))
                .output("open", FLOAT, ANY, ANY);
        try (Scorer scorer = imported(open, Task.REGRESSION)) {
            assertLinear(scorer);
        }
    }

    @Test
    void aFixedNumberOfRowsIsFilledUp() throws Exception {
        for (long fixed : new long[] {1, 7}) {
            TestingGraphs graph = new TestingGraphs()
                    .input("x", FLOAT, fixed, WIDTH)
                    .gemm("x", WIDTH, 1, "y")
                    .output("y", FLOAT, fixed, 1);
            try (Scorer scorer = imported(graph, Task.REGRESSION)) {
                assertLinear(scorer);
            }
        }
    }

    @Test
    void manyRowsGoInBlocks() throws Exception {
        try (Scorer scorer = imported(TestingGraphs.linear(WIDTH), Task.REGRESSION)) {
            int rowCount = 100_000;
            float[] rows = rows(rowCount, WIDTH);
            float[] out = new float[rowCount + 1];
            out[rowCount] = 7;
            scorer.score(rows, rowCount, out);
            for (int row = 0; row < rowCount; row += 997) {
                assertThat(out[row]).isCloseTo(TestingGraphs.linearAnswer(row(rows, row)), within(1e-5f));
            }
            assertThat(out[rowCount]).isEqualTo(7);
            scorer.score(rows, 0, out);
        }
    }

    @Test
    void probabilitiesAreInTheOrderOfTheLabels() throws Exception {
        try (Scorer scorer = imported(TestingGraphs.softmax(WIDTH, 3), Task.CLASSIFICATION)) {
            assertThat(TestingImports.fitted(directory).target().labels()).containsExactly("0", "1", "2");
            assertSoftmax(scorer, 3, new int[] {0, 1, 2});
        }
        TestingImports.write(
                directory,
                TestingGraphs.softmax(WIDTH, 3),
                TestingImports.request(Task.CLASSIFICATION, null, List.of(), List.of("c", "a", "b"), null, null));
        try (Scorer scorer = TestingImports.load(directory)) {
            assertThat(TestingImports.fitted(directory).target().labels()).containsExactly("a", "b", "c");
            assertSoftmax(scorer, 3, new int[] {2, 0, 1});
        }
    }

    @Test
    void twoClassesGiveTheSecondsProbability() throws Exception {
        try (Scorer scorer = imported(TestingGraphs.softmax(WIDTH, 2), Task.CLASSIFICATION)) {
            assertThat(scorer.outputs()).isEqualTo(1);
            assertSoftmax(scorer, 2, new int[] {0, 1});
        }
    }

    @Test
    void aClassifierNamesItsClassesItself() throws Exception {
        List<String> names = List.of("low", "high", "middle");
        TestingGraphs graph = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .linearClassifier("x", WIDTH, names, "label", "p")
                .output("label", STRING, ANY)
                .output("p", FLOAT, ANY, 3);
        try (Scorer scorer = imported(graph, Task.CLASSIFICATION)) {
            assertThat(TestingImports.fitted(directory).target().labels()).containsExactly("high", "low", "middle");
            assertSoftmax(scorer, 3, new int[] {1, 0, 2});
        }
    }

    @Test
    void mapsOfScoresAreRead() throws Exception {
        List<String> names = List.of("low", "high", "middle");
        TestingGraphs graph = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .linearClassifier("x", WIDTH, names, "label", "p")
                .learnt("ZipMap", List.of("p"), List.of("maps"), TestingGraphs.texts("classlabels_strings", names))
                .output("label", STRING, ANY)
                .outputMaps("maps", STRING);
        try (Scorer scorer = imported(graph, Task.CLASSIFICATION)) {
            assertSoftmax(scorer, 3, new int[] {1, 0, 2});
        }
        TestingGraphs numbers = new TestingGraphs()
                .input("x", FLOAT, 1, WIDTH)
                .gemm("x", WIDTH, 2, "scores")
                .node("Softmax", "", List.of("scores"), List.of("p"), TestingGraphs.integer("axis", 1))
                .learnt(
                        "ZipMap",
                        List.of("p"),
                        List.of("maps"),
                        TestingGraphs.integers("classlabels_int64s", List.of(10L, 9L)))
                .outputMaps("maps", INT64);
        try (Scorer scorer = imported(numbers, Task.CLASSIFICATION)) {
            assertThat(TestingImports.fitted(directory).target().labels()).containsExactly("9", "10");
            assertSoftmax(scorer, 2, new int[] {1, 0});
        }
    }

    @Test
    void logitsBecomeProbabilitiesWhenToldSo() throws Exception {
        TestingGraphs graph = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .gemm("x", WIDTH, 3, "scores")
                .output("scores", FLOAT, ANY, 3);
        TestingImports.write(
                directory,
                graph,
                TestingImports.request(Task.CLASSIFICATION, null, List.of(), List.of(), null, "logit"));
        try (Scorer scorer = TestingImports.load(directory)) {
            assertSoftmax(scorer, 3, new int[] {0, 1, 2});
        }
        TestingImports.write(
                directory,
                TestingGraphs.linear(WIDTH),
                TestingImports.request(Task.CLASSIFICATION, null, List.of(), List.of("no", "yes"), null, "logit"));
        try (Scorer scorer = TestingImports.load(directory)) {
            float[] rows = rows(3, WIDTH);
            float[] out = new float[3];
            scorer.score(rows, 3, out);
            for (int row = 0; row < 3; row++) {
                double margin = TestingGraphs.linearAnswer(row(rows, row));
                assertThat((double) out[row]).isCloseTo(1 / (1 + Math.exp(-margin)), within(1e-6));
            }
        }
    }

    @Test
    void scoresThatAreNoProbabilitiesAreNoAnswer() throws Exception {
        for (int classes : new int[] {2, 3}) {
            try (Scorer scorer = imported(TestingGraphs.softmax(WIDTH, classes), Task.CLASSIFICATION)) {
                float[] rows = rows(2, WIDTH);
                rows[1] = Float.NaN;
                float[] out = new float[2 * scorer.outputs()];
                scorer.score(rows, 2, out);
                for (int output = 0; output < scorer.outputs(); output++) {
                    assertThat(out[output]).isNaN();
                    assertThat(out[scorer.outputs() + output]).isBetween(0f, 1f);
                }
            }
        }
    }

    @Test
    void aLabelAloneIsCertain() throws Exception {
        TestingGraphs graph = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .gemm("x", WIDTH, 3, "scores")
                .node(
                        "ArgMax",
                        "",
                        List.of("scores"),
                        List.of("label"),
                        TestingGraphs.integer("axis", 1),
                        TestingGraphs.integer("keepdims", 0))
                .output("label", INT64, ANY);
        TestingImports.write(
                directory,
                graph,
                TestingImports.request(Task.CLASSIFICATION, null, List.of(), List.of("c", "a", "b"), null, null));
        try (Scorer scorer = TestingImports.load(directory)) {
            float[] rows = rows(ROW_COUNT, WIDTH);
            float[] out = new float[ROW_COUNT * 3];
            scorer.score(rows, ROW_COUNT, out);
            int[] labelOfColumn = {2, 0, 1};
            for (int row = 0; row < ROW_COUNT; row++) {
                double[] expected = TestingGraphs.softmaxAnswer(3, row(rows, row));
                int best = 0;
                for (int column = 1; column < 3; column++) {
                    best = expected[column] > expected[best] ? column : best;
                }
                float[] certain = new float[3];
                certain[labelOfColumn[best]] = 1;
                assertThat(Arrays.copyOfRange(out, row * 3, row * 3 + 3)).isEqualTo(certain);
            }
        }
    }

    private static TestingGraphs named() {
        return new TestingGraphs()
                .input("charge", FLOAT, ANY, 1)
                .input("tenure", INT64, ANY, 1)
                .input("plan", STRING, ANY, 1)
                .input("joined", DOUBLE, ANY)
                .node("Cast", "", List.of("tenure"), List.of("tenure_f"), TestingGraphs.integer("to", FLOAT))
                .learnt(
                        "LabelEncoder",
                        List.of("plan"),
                        List.of("plan_f"),
                        TestingGraphs.texts("keys_strings", List.of("basic", "gold", "unheard of")),
                        TestingGraphs.floats("values_floats", List.of(1f, 2f, 3f)),
                        TestingGraphs.real("default_float", -1))
                .node("Cast", "", List.of("joined"), List.of("joined_f"), TestingGraphs.integer("to", FLOAT))
                .constant("column", new long[] {-1, 1}, 2)
                .node("Reshape", "", List.of("joined_f", "column"), List.of("joined_c"))
                .node(
                        "Concat",
                        "",
                        List.of("charge", "tenure_f", "plan_f", "joined_c"),
                        List.of("x"),
                        TestingGraphs.integer("axis", 1))
                .gemm("x", 4, 1, "y")
                .output("y", FLOAT, ANY, 1);
    }

    @Test
    void namedInputsAreColumnsAsTheyAre() throws Exception {
        FittedPreprocessing fitted = TestingModels.fitted(List.of());
        TestingImports.write(directory, named(), TestingImports.request(fitted));
        assertThat(TestingImports.fitted(directory)).isEqualTo(fitted);
        try (Scorer scorer = TestingImports.load(directory)) {
            RawTransform transform =
                    fitted.bindRaw(scorer.rawColumns(), fitted.inputs().columns());
            RawRows rows = new RawRows(scorer.rawColumns());
            rows.ensure(2);
            // A text that the snapshot never saw reaches the graph, which knows it.
            transform.apply(TestingRow.of(7L, 2.5, "unheard of", null, 18_000L), rows, 0);
            transform.apply(TestingRow.of(1L, null, "gold", true, 0L), rows, 1);
            float[] out = new float[2];
            scorer.score(rows, 0, 2, out);
            assertThat(out[0]).isCloseTo(TestingGraphs.linearAnswer(2.5f, 7, 3, 18_000), within(1e-3f));
            assertThat(out[1]).isNaN();
            scorer.score(rows, 1, 1, out);
            assertThat(out[0]).isNaN();
            assertRefused(
                    () -> transform.apply(TestingRow.of(null, 2.5, "gold", true, 0L), rows, 1),
                    ErrorCode.INVALID_VALUE,
                    "feature value cannot be NULL, since the model has no missing value for it: column=tenure");
            assertRefused(
                    () -> scorer.score(new float[5], 1, out),
                    ErrorCode.UNSUPPORTED_KIND,
                    "model takes columns as they are, not features: columns=4");
            assertRefused(
                    () -> scorer.score(new RawRows(List.of()), 0, 1, out),
                    ErrorCode.WRONG_LENGTH,
                    "rows must have the model's columns: columns=0, modelColumns=4");
        }
    }

    @Test
    void namedNumbersNeedNoTask() throws Exception {
        TestingGraphs graph = new TestingGraphs()
                .input("age", FLOAT, ANY, 1)
                .input("height", FLOAT, ANY, 1)
                .node("Concat", "", List.of("age", "height"), List.of("x"), TestingGraphs.integer("axis", 1))
                .gemm("x", 2, 1, "y")
                .output("y", FLOAT, ANY, 1);
        try (Scorer scorer = imported(graph, Task.REGRESSION)) {
            FittedPreprocessing fitted = TestingImports.fitted(directory);
            assertThat(fitted.featureNames()).containsExactly("age", "height");
            RawRows rows = new RawRows(scorer.rawColumns());
            rows.ensure(1);
            fitted.bindRaw(scorer.rawColumns(), fitted.inputs().columns()).apply(TestingRow.of(3.0, 4.0), rows, 0);
            float[] out = new float[1];
            scorer.score(rows, 0, 1, out);
            assertThat(out[0]).isCloseTo(TestingGraphs.linearAnswer(3, 4), within(1e-6f));
        }
    }

    @Test
    void aModelWhoseAnswersDependOnTheBatchIsAskedRowByRow() throws Exception {
        TestingGraphs graph = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .node("ReduceMean", "", List.of("x"), List.of("mean"), TestingGraphs.integers("axes", List.of(0L)))
                .node("Add", "", List.of("x", "mean"), List.of("shifted"))
                .gemm("shifted", WIDTH, 1, "y")
                .output("y", FLOAT, ANY, 1);
        assertThat(TestingImports.write(directory, graph, TestingImports.request(Task.REGRESSION)))
                .containsExactly("the model's answers depend on the rows asked together, so each row is scored alone");
        try (Scorer scorer = TestingImports.load(directory)) {
            float[] rows = rows(ROW_COUNT, WIDTH);
            float[] out = new float[ROW_COUNT];
            scorer.score(rows, ROW_COUNT, out);
            float[] one = new float[1];
            for (int row = 0; row < ROW_COUNT; row++) {
                scorer.score(row(rows, row), 1, one);
                assertThat(out[row]).isEqualTo(one[0]);
            }
        }
    }

    /** Rows whose first feature is no index of the table fail their batch. */
    private static TestingGraphs table() {
        return new TestingGraphs()
                .input("x", FLOAT, ANY, 1)
                .constant("table", new float[] {10, 11, 12, 13}, 4)
                .node("Cast", "", List.of("x"), List.of("index"), TestingGraphs.integer("to", INT64))
                .node("Gather", "", List.of("table", "index"), List.of("y"))
                .output("y", FLOAT, ANY, 1);
    }

    @Test
    void aRowThatFailsTellsNoValue() throws Exception {
        try (Scorer scorer = imported(table(), Task.REGRESSION)) {
            float[] out = new float[3];
            assertRefused(
                    () -> scorer.score(new float[] {1, 77_777, 2}, 3, out),
                    ErrorCode.SCORER_FAILED,
                    "model cannot answer: code=ORT_INVALID_ARGUMENT");
            scorer.score(new float[] {1, 3, 2}, 3, out);
            assertThat(out).containsExactly(11, 13, 12);
        }
    }

    @Test
    void aScorerIsRenewedOnceInAWhile() throws Exception {
        imported(table(), Task.REGRESSION).close();
        AtomicLong clock = new AtomicLong(5);
        Path file = directory.resolve(Engines.ONNX_FILE);
        OnnxSignature signature = OnnxSignature.parse(Files.readAllBytes(directory.resolve(OnnxSignature.FILE_NAME)));
        float[] out = new float[1];
        Scorer scorer = new OnnxScorer(file, OnnxSession.open(file), signature, 1, List.of(), 0, clock::get);
        assertThat(scorer.renew()).isTrue();
        scorer.score(new float[] {2}, 1, out);
        assertThat(out).containsExactly(12);
        assertThat(scorer.renew()).isFalse();
        clock.addAndGet(61_000_000_000L);
        assertThat(scorer.renew()).isTrue();
        clock.addAndGet(61_000_000_000L);
        Files.delete(file);
        assertThat(scorer.renew()).isFalse();
        scorer.score(new float[] {3}, 1, out);
        assertThat(out).containsExactly(13);
        scorer.close();
        scorer.close();
        assertThat(scorer.renew()).isFalse();
        assertThatThrownBy(() -> scorer.score(new float[] {3}, 1, out))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("scorer is closed");
    }

    @Test
    void manyThreadsGetTheirOwnAnswersWhileTheScorerIsRenewed() throws Exception {
        imported(TestingGraphs.softmax(WIDTH, 3), Task.CLASSIFICATION).close();
        ModelManifest manifest = TestingImports.manifest(directory);
        AtomicLong clock = new AtomicLong();
        Path file = directory.resolve(Engines.ONNX_FILE);
        OnnxSignature signature = OnnxSignature.parse(Files.readAllBytes(directory.resolve(OnnxSignature.FILE_NAME)));
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try (Scorer scorer = new OnnxScorer(
                file,
                OnnxSession.open(file),
                signature,
                WIDTH,
                manifest.labels(),
                0,
                () -> clock.addAndGet(61_000_000_000L))) {
            float[] rows = rows(ROW_COUNT, WIDTH);
            float[] expected = new float[ROW_COUNT * 3];
            for (int row = 0; row < ROW_COUNT; row++) {
                double[] answer = TestingGraphs.softmaxAnswer(3, row(rows, row));
                for (int column = 0; column < 3; column++) {
                    expected[row * 3 + column] = (float) answer[column];
                }
            }
            List<Future<?>> calls = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                int first = thread;
                calls.add(threads.submit(() -> {
                    float[] out = new float[ROW_COUNT * 3];
                    for (int round = 0; round < 300; round++) {
                        int size = 1 + (first * 37 + round * 11) % ROW_COUNT;
                        scorer.score(rows, size, out);
                        for (int index = 0; index < size * 3; index++) {
                            assertThat(out[index]).isCloseTo(expected[index], within(1e-5f));
                        }
                    }
                }));
            }
            for (int renewal = 0; renewal < 20; renewal++) {
                assertThat(scorer.renew()).isTrue();
            }
            for (Future<?> call : calls) {
                call.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aForestAnswersAsItsFlatArrays() throws Exception {
        float[] training = TestingForests.rows(5, 500, WIDTH, 0.1);
        Booster booster = TestingForests.train(
                training,
                TestingForests.labels(5, training, WIDTH, 0),
                WIDTH,
                30,
                Map.of("objective", "reg:squarederror", "max_depth", 5));
        Path file = TestingForests.write(booster, directory);
        booster.dispose();
        TestingGraphs graph = TestingTrees.graph(TreeModelParser.parse(file));
        try (Scorer flat = XgboostScorer.load(file, TestingForests.manifest(WIDTH, 0));
                Scorer scorer = imported(graph, Task.REGRESSION)) {
            assertThat(scorer.residentBytes()).isGreaterThan(10 * Files.size(directory.resolve(Engines.ONNX_FILE)));
            float[] rows = TestingForests.rows(6, ROW_COUNT, WIDTH, 0.2);
            float[] expected = new float[ROW_COUNT];
            float[] out = new float[ROW_COUNT];
            flat.score(rows, ROW_COUNT, expected);
            scorer.score(rows, ROW_COUNT, out);
            for (int row = 0; row < ROW_COUNT; row++) {
                assertThat(out[row]).isCloseTo(expected[row], within(1e-5f));
            }
        }
    }

    @Test
    void refusesAPackageThatContradictsItself() throws Exception {
        imported(TestingGraphs.softmax(WIDTH, 3), Task.CLASSIFICATION).close();
        ModelManifest three = TestingImports.manifest(directory);
        assertRefused(
                () -> Engines.load(directory, TestingForests.manifest(WIDTH, 3)),
                ErrorCode.CORRUPT_PACKAGE,
                "model file is missing from its package: file=model.ubj, package=" + directory);
        imported(TestingGraphs.softmax(WIDTH, 2), Task.CLASSIFICATION).close();
        assertRefused(
                () -> Engines.load(directory, three),
                ErrorCode.CORRUPT_PACKAGE,
                "model signature must answer the manifest's task: scores=probability, classes=2, labels=3");
        ModelManifest two = TestingImports.manifest(directory);
        TestingGraphs.linear(WIDTH).write(directory);
        assertRefused(
                () -> Engines.load(directory, two),
                ErrorCode.CORRUPT_PACKAGE,
                "model must have the signature's inputs and output: inputs=1, output=p");
    }

    private static void assertRefused(ThrowingCallable call, ErrorCode code, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        ContractException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessage(message);
    }
}
