package io.millrace.engine;

import static io.millrace.engine.TestingGraphs.ANY;
import static io.millrace.engine.TestingGraphs.FLOAT;
import static io.millrace.engine.TestingGraphs.INT64;
import static io.millrace.engine.TestingGraphs.STRING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Task;
import io.millrace.contract.envelope.ImportRequest;
import io.millrace.contract.fitted.FittedPreprocessing;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Graphs that do not fit are refused, each with its reason; nothing is left beside the model file. */
class OnnxImportTest {
    private static final int WIDTH = 5;
    private static final FittedPreprocessing REGRESSION = TestingModels.fitted(List.of());
    private static final FittedPreprocessing BINARY = TestingModels.fitted(List.of("no", "yes"));
    private static final FittedPreprocessing THREE = TestingModels.fitted(List.of("high", "low", "middle"));

    @TempDir
    Path directory;

    private void assertRefused(TestingGraphs graph, ImportRequest request, ErrorCode code, String message)
            throws Exception {
        graph.write(directory);
        assertRefused(request, code, message);
    }

    private void assertRefused(ImportRequest request, ErrorCode code, String message) throws Exception {
        assertThatThrownBy(() -> OnnxImport.prepare(directory, request))
                .isInstanceOfSatisfying(
                        ContractException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessage(message);
        try (var files = Files.list(directory)) {
            assertThat(files).containsExactly(directory.resolve(Engines.ONNX_FILE));
        }
    }

    private static ImportRequest wish(Task task, List<String> features, List<String> labels, @Nullable String output) {
        return TestingImports.request(task, null, features, labels, output, null);
    }

    private static TestingGraphs column(String name, int type, long... shape) {
        return new TestingGraphs()
                .input(name, type, shape)
                .input("charge", FLOAT, ANY, 1)
                .node("Identity", "", List.of("charge"), List.of("y"))
                .output("y", FLOAT, ANY, 1);
    }

    @Test
    void theFileMustBeAModel() throws Exception {
        Path file = directory.resolve(Engines.ONNX_FILE);
        ImportRequest request = TestingImports.request(Task.REGRESSION);
        Files.write(file, new byte[0]);
        assertRefused(
                request,
                ErrorCode.CORRUPT_PACKAGE,
                "file must be an ONNX model: length=0, irVersion=false, graph=false");
        Files.write(file, "PK not a model".getBytes(StandardCharsets.UTF_8));
        assertRefused(request, ErrorCode.CORRUPT_PACKAGE, "wire type is unknown: offset=5, type=7");
        Files.write(file, new byte[] {8, 8, 58, 0});
        assertRefused(
                request,
                ErrorCode.CORRUPT_PACKAGE,
                "model cannot be loaded: code=ORT_FAIL, cause="
                        + "Missing opset in the model. All ModelProtos MUST have at least one entry that specifies which"
                        + " version of the ONNX OperatorSet is being imported.");
    }

    @Test
    void theOperatorsMustBeKnown() throws Exception {
        TestingGraphs unknown = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .node("Conjure", "", List.of("x"), List.of("y"))
                .output("y", FLOAT, ANY, 1);
        assertRefused(
                unknown,
                TestingImports.request(Task.REGRESSION),
                ErrorCode.CORRUPT_PACKAGE,
                "model cannot be loaded: code=ORT_INVALID_GRAPH, cause=This is an invalid model. In Node, (\"node0\","
                        + " Conjure, \"\", -1) : (\"x\": tensor(float),) -> (\"y\": tensor(float),) , Error No Op"
                        + " registered for Conjure with domain_version of 15");
        assertRefused(
                TestingGraphs.linear(WIDTH).opset(999),
                TestingImports.request(Task.REGRESSION),
                ErrorCode.CORRUPT_PACKAGE,
                "model cannot be loaded: code=ORT_FAIL, cause=ONNX Runtime only *guarantees* support for models stamped"
                        + " with official released onnx opset versions. Opset 999 is under development and support for"
                        + " this is limited. The operator schemas and or other functionality may change before next ONNX"
                        + " release and in this case ONNX Runtime will not guarantee backward compatibility. Current"
                        + " official support for domain ai.onnx is till opset 23.");
    }

    @Test
    void theWeightsMustBeInside() throws Exception {
        TestingGraphs graph = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .externalConstant("W", "../../etc/passwd", WIDTH, 1)
                .node("MatMul", "", List.of("x", "W"), List.of("y"))
                .output("y", FLOAT, ANY, 1);
        graph.write(directory);
        assertThatThrownBy(() -> OnnxImport.prepare(directory, TestingImports.request(Task.REGRESSION)))
                .hasMessageStartingWith("model must hold its weights in the one file: offset=");
    }

    @Test
    void theInputsMustFitTheTask() throws Exception {
        ImportRequest request = TestingImports.request(REGRESSION);
        assertRefused(
                TestingGraphs.linear(7),
                request,
                ErrorCode.WRONG_LENGTH,
                "model must take the features of the preprocessing: input=x, width=7, features=5");
        assertRefused(
                column("age", FLOAT, ANY, 1),
                request,
                ErrorCode.UNKNOWN_COLUMN,
                "model input is no column of the task: input=age, columns=tenure, charge, plan, active, joined");
        assertRefused(
                column("plan", FLOAT, ANY, 1),
                request,
                ErrorCode.WRONG_TYPE,
                "model input must have its column's type: input=plan, is=float[-1, 1], column=text");
        assertRefused(
                column("tenure", STRING, ANY, 1),
                request,
                ErrorCode.WRONG_TYPE,
                "model input must have its column's type: input=tenure, is=string[-1, 1], column=int64");
        assertRefused(
                new TestingGraphs()
                        .input("charge", INT64, ANY, 1)
                        .node("Identity", "", List.of("charge"), List.of("y"))
                        .output("y", INT64, ANY, 1),
                request,
                ErrorCode.WRONG_TYPE,
                "model input must have its column's type: input=charge, is=int64[-1, 1], column=float64");
        assertRefused(
                column("tenure", FLOAT, ANY, 3),
                request,
                ErrorCode.WRONG_LENGTH,
                "model input must be a matrix of features alone, or hold one value of a column for each row:"
                        + " input=tenure, is=float[-1, 3], inputs=2");
        assertRefused(
                column("active", 9, ANY, 1),
                request,
                ErrorCode.WRONG_TYPE,
                "model input must be float, double, int64 or string: input=active, is=bool[-1, 1]");
        assertRefused(
                column("tenure", FLOAT, 4, 1).input("active", FLOAT, 3, 1),
                request,
                ErrorCode.WRONG_LENGTH,
                "model inputs must have one number of rows: input=active, rows=3, otherRows=4");
    }

    @Test
    void plainNumbersMustBeCounted() throws Exception {
        assertRefused(
                TestingGraphs.linear(3),
                wish(Task.REGRESSION, List.of("a", "b"), List.of(), null),
                ErrorCode.WRONG_LENGTH,
                "as many features must be named as the model takes: input=x, width=3, features=2");
        TestingGraphs open = new TestingGraphs()
                .input("x", FLOAT, ANY, ANY)
                .gemm("x", 2, 1, "y")
                .output("y", FLOAT, ANY, 1);
        assertRefused(
                open,
                TestingImports.request(Task.REGRESSION),
                ErrorCode.WRONG_LENGTH,
                "model does not say how many features it takes, so they must be named: input=x, is=float[-1, -1]");
        TestingImports.write(directory, open, wish(Task.REGRESSION, List.of("a", "b"), List.of(), null));
        assertThat(TestingImports.fitted(directory).featureNames()).containsExactly("a", "b");
    }

    @Test
    void textsNeedATask() throws Exception {
        assertRefused(
                column("plan", STRING, ANY, 1),
                TestingImports.request(Task.REGRESSION),
                ErrorCode.WRONG_TYPE,
                "model that takes texts needs a task with a snapshot: input=plan, is=string[-1, 1]");
    }

    @Test
    void thePreprocessingMustBeOfTheTask() throws Exception {
        assertRefused(
                TestingGraphs.linear(WIDTH),
                TestingImports.request(Task.CLASSIFICATION, REGRESSION, List.of(), List.of(), null, null),
                ErrorCode.WRONG_TASK,
                "preprocessing must be of the project's task: task=regression, projectTask=classification");
    }

    @Test
    void theOutputMustFitTheTask() throws Exception {
        assertRefused(
                TestingGraphs.softmax(WIDTH, 3),
                TestingImports.request(Task.REGRESSION),
                ErrorCode.UNSUPPORTED_KIND,
                "model has no output that can be the answer: task=regression, outputs=p float[-1, 3]");
        TestingGraphs two = TestingGraphs.linear(WIDTH).gemm("x", WIDTH, 1, "z").output("z", FLOAT, ANY, 1);
        assertRefused(
                two,
                TestingImports.request(Task.REGRESSION),
                ErrorCode.UNSUPPORTED_KIND,
                "model has several outputs that can be the answer, option output names one: task=regression,"
                        + " outputs=y float[-1, 1], z float[-1, 1]");
        assertRefused(
                two,
                wish(Task.REGRESSION, List.of(), List.of(), "w"),
                ErrorCode.UNSUPPORTED_KIND,
                "model has no output that can be the answer: task=regression, output=w, outputs=y float[-1, 1],"
                        + " z float[-1, 1]");
        TestingImports.write(directory, two, wish(Task.REGRESSION, List.of(), List.of(), "z"));
    }

    @Test
    void theClassesMustBeTheTasks() throws Exception {
        assertRefused(
                TestingGraphs.softmax(WIDTH, 4),
                TestingImports.request(THREE),
                ErrorCode.INVALID_LABEL,
                "model must have as many classes as the task: classes=4, labels=3 (high, low, middle)");
        TestingGraphs others = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .linearClassifier("x", WIDTH, List.of("a", "b", "c"), "label", "p")
                .output("p", FLOAT, ANY, 3);
        assertRefused(
                others,
                TestingImports.request(THREE),
                ErrorCode.INVALID_LABEL,
                "model must have the task's classes: classes=a, b, c, labels=high, low, middle");
        assertRefused(
                others,
                TestingImports.request(Task.CLASSIFICATION, THREE, List.of(), List.of("high", "low"), null, null),
                ErrorCode.INVALID_LABEL,
                "option labels must name the label of each class of the model: classes=3, labels=3 (high, low, middle)");
        TestingGraphs score = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .gemm("x", WIDTH, 1, "z")
                .node("Sigmoid", "", List.of("z"), List.of("p"))
                .output("p", FLOAT, ANY, 1);
        assertRefused(
                score,
                TestingImports.request(THREE),
                ErrorCode.INVALID_LABEL,
                "model with one score must have two classes: classes=1, labels=3 (high, low, middle)");
        assertRefused(
                score,
                TestingImports.request(Task.CLASSIFICATION, BINARY, List.of(), List.of("yes", "no"), null, null),
                ErrorCode.INVALID_LABEL,
                "model with one score must have that of the second label: output=p, second=no, labels=no, yes");
        TestingImports.write(directory, score, TestingImports.request(BINARY));
    }

    @Test
    void scoresMustBeProbabilitiesOrSaidToBeLogits() throws Exception {
        TestingGraphs logits = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .constant("zero", new float[] {0, 0, 0}, 3)
                .gemm("x", WIDTH, 3, "s")
                .node("Mul", "", List.of("s", "zero"), List.of("scores"))
                .output("scores", FLOAT, ANY, 3);
        assertRefused(
                logits,
                TestingImports.request(THREE),
                ErrorCode.UNSUPPORTED_KIND,
                "model must answer probabilities, or option scores must be logit: output=scores, columns=3, sum=0.0,"
                        + " lowest=0.0");
    }

    @Test
    void aModelThatContradictsItsOwnLabelIsRefused() throws Exception {
        TestingGraphs reversed = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .gemm("x", WIDTH, 2, "s")
                .node("Softmax", "", List.of("s"), List.of("p"), TestingGraphs.integer("axis", 1))
                .node(
                        "ArgMin",
                        "",
                        List.of("s"),
                        List.of("label"),
                        TestingGraphs.integer("axis", 1),
                        TestingGraphs.integer("keepdims", 0))
                .output("label", INT64, ANY)
                .output("p", FLOAT, ANY, 2);
        assertRefused(
                reversed,
                TestingImports.request(BINARY),
                ErrorCode.INVALID_LABEL,
                "model must name the class of its highest score, so its classes are in another order: output=label,"
                        + " scores=p, rows=32, differing=32");
    }

    @Test
    void theAnswerMustBeANumber() throws Exception {
        TestingGraphs graph = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .gemm("x", WIDTH, 1, "z")
                .constant("zero", new float[] {0}, 1)
                .node("Div", "", List.of("z", "zero"), List.of("y"))
                .output("y", FLOAT, ANY, 1);
        assertRefused(
                graph,
                TestingImports.request(Task.REGRESSION),
                ErrorCode.SCORER_FAILED,
                "model must answer finite numbers to made-up rows: output=y");
    }

    @Test
    void labelsWithoutNamesMustBeTold() throws Exception {
        TestingGraphs graph = new TestingGraphs()
                .input("x", FLOAT, ANY, WIDTH)
                .gemm("x", WIDTH, 3, "s")
                .node("ArgMax", "", List.of("s"), List.of("label"), TestingGraphs.integer("axis", 1))
                .output("label", INT64, ANY, 1);
        assertRefused(
                graph,
                TestingImports.request(Task.CLASSIFICATION),
                ErrorCode.INVALID_LABEL,
                "model does not name its classes, so option labels must: output=label");
        TestingImports.write(directory, graph, TestingImports.request(THREE));
    }
}
