package io.millrace.gateway;

import static io.millrace.engine.TestingGraphs.ANY;
import static io.millrace.engine.TestingGraphs.FLOAT;
import static io.millrace.engine.TestingGraphs.INT64;
import static io.millrace.engine.TestingGraphs.STRING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Sha256;
import io.millrace.contract.Task;
import io.millrace.contract.envelope.ImportAnswer;
import io.millrace.contract.envelope.ImportRequest;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.layout.RequestKind;
import io.millrace.engine.TestingGraphs;
import io.millrace.engine.TestingModels;
import io.millrace.engine.TestingRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models from elsewhere through the whole gateway: in by IMPORT, loaded and asked like any other. */
class ImportTest {
    @TempDir
    static Path directory;

    private static TestingGateway testing;
    private static int importCount;

    private TestingClient client;

    @BeforeAll
    static void start() throws IOException {
        Files.createDirectories(directory.resolve("allowed"));
        testing = new TestingGateway(
                Map.of("import-directory", directory.resolve("allowed").toString()));
    }

    @AfterAll
    static void stop() throws IOException {
        testing.close();
    }

    @BeforeEach
    void connect() throws IOException {
        client = testing.client();
    }

    @AfterEach
    void leavesNothingInTheCache() throws IOException {
        client.close();
        try (Stream<Path> entries = Files.list(testing.cacheDirectory())) {
            assertThat(entries.filter(entry -> entry.getFileName().toString().startsWith(".")))
                    .isEmpty();
        }
    }

    private static Path write(String name, TestingGraphs graph) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.write(file, graph.bytes());
    }

    private static ImportRequest request(String uri, Task task, @Nullable FittedPreprocessing fitted) {
        return request(uri, task, fitted, null);
    }

    private static ImportRequest request(
            String uri, Task task, @Nullable FittedPreprocessing fitted, @Nullable String sha256) {
        return new ImportRequest(
                "ab-" + importCount++,
                "test.db",
                7,
                "imported",
                task,
                uri,
                "onnx",
                sha256,
                fitted == null ? null : new String(fitted.toJson(), StandardCharsets.UTF_8),
                List.of(),
                List.of(),
                null,
                null,
                "2026-01-01T00:00:00Z");
    }

    private TestingClient.Answer ask(ImportRequest request) throws IOException {
        return client.call(RequestKind.IMPORT, request.toJson());
    }

    private ImportAnswer imported(ImportRequest request) throws IOException {
        TestingClient.Answer answer = ask(request);
        assertThat(answer.status()).as(answer.message()).isEqualTo(ErrorCode.OK);
        return ImportAnswer.parse(answer.rows().get(0).text().getBytes(StandardCharsets.UTF_8));
    }

    private void assertRefused(ImportRequest request, ErrorCode code, String message) throws IOException {
        TestingClient.Answer answer = ask(request);
        assertThat(answer.message()).isEqualTo(message);
        assertThat(answer.status()).isEqualTo(code);
    }

    private static ModelReference reference(ImportAnswer answer, long modelId) {
        return new ModelReference(modelId, "imported", "test.db", answer.uri(), answer.sha256(), answer.bytes());
    }

    @Test
    void aMatrixOfPlainNumbersAnswersArrays() throws IOException {
        Path file = write("allowed/linear.onnx", TestingGraphs.linear(3));
        ImportAnswer answer = imported(request(file.toUri().toString(), Task.REGRESSION, null, Sha256.hex(file)));
        assertThat(answer.uri()).startsWith("store:test%2Edb/7/import-ab-");
        assertThat(answer.labels()).isEmpty();
        assertThat(answer.notes()).isEmpty();
        ModelReference reference = reference(answer, 50);
        assertThat(client.load(reference).status()).isEqualTo(ErrorCode.OK);
        List<Column> positional = List.of(
                new Column("", ColumnType.FLOAT64, true),
                new Column("", ColumnType.FLOAT64, true),
                new Column("", ColumnType.FLOAT64, true));
        List<TestingRow> rows = List.of(TestingRow.of(1.0, 2.0, 3.0), TestingRow.of(-1.0, 0.5, 8.0));
        TestingClient.Answer predicted = client.ask(RequestKind.PREDICT, reference, positional, rows);
        assertThat(predicted.rows().get(0).scalar()).isCloseTo(TestingGraphs.linearAnswer(1, 2, 3), within(1e-6));
        assertThat(predicted.rows().get(1).scalar()).isCloseTo(TestingGraphs.linearAnswer(-1, 0.5f, 8), within(1e-6));
        TestingClient.Answer vectors = client.ask(RequestKind.PREPROCESS, reference, positional, rows);
        assertThat(vectors.rows().get(0).vector()).containsExactly(1.0, 2.0, 3.0);
    }

    @Test
    void theFeaturesOfATaskAnswerClasses() throws IOException {
        FittedPreprocessing fitted = TestingModels.fitted(List.of("high", "low", "middle"));
        Path file = write("allowed/deep/softmax.onnx", TestingGraphs.softmax(fitted.width(), 3));
        ImportAnswer answer = imported(request(file.toUri().toString(), Task.CLASSIFICATION, fitted));
        assertThat(answer.fittedId()).isEqualTo(fitted.fittedId());
        assertThat(answer.labels()).containsExactly("high", "low", "middle");
        ModelReference reference = reference(answer, 51);
        List<TestingRow> rows = TestingModels.rows(3, 20);
        float[] features = new float[fitted.width()];
        TestingClient.Answer full =
                client.ask(RequestKind.FULL, reference, fitted.inputs().columns(), rows);
        assertThat(full.status()).as(full.message()).isEqualTo(ErrorCode.OK);
        for (int row = 0; row < rows.size(); row++) {
            fitted.bind(fitted.inputs().columns()).apply(rows.get(row), features, 0);
            boolean missing = false;
            for (float feature : features) {
                missing |= Float.isNaN(feature);
            }
            if (missing) {
                // The network has nothing for a missing value: an error, not the zeros it answers.
                assertThat(full.rows().get(row).status()).isEqualTo(ErrorCode.INVALID_VALUE);
                assertThat(full.rows().get(row).text())
                        .isEqualTo("model has no answer for the row, as for a missing value that it does not take:"
                                + " model=imported/51");
                continue;
            }
            double[] expected = TestingGraphs.softmaxAnswer(3, features);
            for (int label = 0; label < 3; label++) {
                assertThat(full.rows().get(row).vector().get(label)).isCloseTo(expected[label], within(1e-5));
            }
        }
    }

    private static TestingGraphs named() {
        return new TestingGraphs()
                .input("tenure", INT64, ANY, 1)
                .input("plan", STRING, ANY, 1)
                .node("Cast", "", List.of("tenure"), List.of("tenure_f"), TestingGraphs.integer("to", FLOAT))
                .learnt(
                        "LabelEncoder",
                        List.of("plan"),
                        List.of("plan_f"),
                        TestingGraphs.texts("keys_strings", List.of("basic", "gold")),
                        TestingGraphs.floats("values_floats", List.of(1f, 2f)),
                        TestingGraphs.real("default_float", -1))
                .node("Concat", "", List.of("tenure_f", "plan_f"), List.of("x"), TestingGraphs.integer("axis", 1))
                .gemm("x", 2, 1, "y")
                .output("y", FLOAT, ANY, 1);
    }

    @Test
    void namedColumnsGoToTheGraphAsTheyAre() throws IOException {
        FittedPreprocessing fitted = TestingModels.fitted(List.of());
        Path file = write("allowed/named.onnx", named());
        ModelReference reference = reference(imported(request(file.toUri().toString(), Task.REGRESSION, fitted)), 52);
        List<TestingRow> rows = List.of(
                TestingRow.of(7L, null, "gold", null, null),
                TestingRow.of(null, 1.0, "gold", true, 1L),
                TestingRow.of(9L, 1.0, "never seen", true, 1L));
        TestingClient.Answer answer =
                client.ask(RequestKind.PREDICT, reference, fitted.inputs().columns(), rows);
        assertThat(answer.rows().get(0).scalar()).isCloseTo(TestingGraphs.linearAnswer(7, 2), within(1e-6));
        assertThat(answer.rows().get(1).status()).isEqualTo(ErrorCode.INVALID_VALUE);
        assertThat(answer.rows().get(1).text())
                .isEqualTo("feature value cannot be NULL, since the model has no missing value for it: column=tenure");
        assertThat(answer.rows().get(2).scalar()).isCloseTo(TestingGraphs.linearAnswer(9, -1), within(1e-6));
        TestingClient.Answer vector =
                client.ask(RequestKind.PREPROCESS, reference, fitted.inputs().columns(), rows);
        assertThat(vector.status()).isEqualTo(ErrorCode.UNSUPPORTED_KIND);
        assertThat(vector.message())
                .isEqualTo("model takes its columns as they are, without features: columns=2, model=imported/52");
    }

    @Test
    void aFileOfTheStoreIsImportedFromItsOwnDirectory() throws IOException {
        Files.createDirectories(testing.storeRoot().resolve("import.d/team"));
        Files.write(
                testing.storeRoot().resolve("import.d/team/linear.onnx"),
                TestingGraphs.linear(2).bytes());
        ImportAnswer answer = imported(request("store:import.d/team/linear.onnx", Task.REGRESSION, null));
        assertThat(client.load(reference(answer, 53)).status()).isEqualTo(ErrorCode.OK);
        assertRefused(
                request("store:import.d/nothing.onnx", Task.REGRESSION, null),
                ErrorCode.INVALID_VALUE,
                "file to import must be in the store: uri=store:import.d/nothing.onnx");
        String packaged = answer.uri() + "/model.onnx";
        assertRefused(
                request(packaged, Task.REGRESSION, null),
                ErrorCode.INVALID_VALUE,
                "uri of a file to import must begin with file: or store:import.d/: uri=" + packaged);
        assertRefused(
                request("store:import.d/../test%2Edb/x", Task.REGRESSION, null),
                ErrorCode.INVALID_VALUE,
                "model directory must be a relative path of plain segments: directory=import.d/../test%2Edb/x,"
                        + " length=23, lengthLimit=900, depthLimit=8");
    }

    @Test
    void aFileOutsideTheImportDirectoryIsAsGoodAsNone() throws IOException {
        Path outside = write("outside.onnx", TestingGraphs.linear(2));
        Files.createSymbolicLink(directory.resolve("allowed/link.onnx"), outside);
        String allowed = directory.resolve("allowed").toString();
        for (String uri : List.of(
                outside.toUri().toString(),
                "file:" + allowed + "/../outside.onnx",
                "file:" + allowed + "/link.onnx",
                "file:" + allowed + "/nothing.onnx",
                "file:" + allowed,
                "file://elsewhere" + allowed + "/x.onnx",
                "file:relative.onnx",
                "file:/%zz")) {
            assertRefused(
                    request(uri, Task.REGRESSION, null),
                    ErrorCode.INVALID_VALUE,
                    "file to import must be a readable file in the import directory: uri=" + uri + ", import-directory="
                            + allowed);
        }
    }

    @Test
    void theSameRequestAgainIsTheSamePackage() throws IOException {
        Path file = write("allowed/again.onnx", TestingGraphs.linear(4));
        ImportRequest request = request(file.toUri().toString(), Task.REGRESSION, null);
        assertThat(imported(request)).isEqualTo(imported(request));
    }

    @Test
    void whatIsWrongIsSaid() throws IOException {
        Path file = write("allowed/wrong.onnx", TestingGraphs.linear(4));
        String uri = file.toUri().toString();
        assertRefused(
                request(uri, Task.REGRESSION, null, "ab".repeat(32)),
                ErrorCode.INVALID_VALUE,
                "model file must have the digest that was given: sha256=" + Sha256.hex(file) + ", expectedSha256="
                        + "ab".repeat(32) + ", bytes=" + Files.size(file));
        assertRefused(
                request(uri, Task.REGRESSION, TestingModels.fitted(List.of())),
                ErrorCode.WRONG_LENGTH,
                "model must take the features of the preprocessing: input=x, width=4, features=5");
        assertRefused(
                request(uri, Task.CLASSIFICATION, TestingModels.fitted(List.of())),
                ErrorCode.WRONG_TASK,
                "preprocessing must be of the project's task: task=regression, projectTask=classification");
        TestingClient.Answer malformed = client.call(RequestKind.IMPORT, "{}".getBytes(StandardCharsets.UTF_8));
        assertThat(malformed.status()).isEqualTo(ErrorCode.INVALID_ENVELOPE);
        assertThat(malformed.message()).isEqualTo("import request field is missing: field=import-id");
    }

    @Test
    void aModelLargerThanTheMemoryIsRefusedWithBothNumbers() throws IOException {
        try (TestingGateway small = new TestingGateway(
                        Map.of("import-directory", directory.resolve("allowed").toString(), "cache-bytes", "1048576"));
                TestingClient asking = small.client()) {
            Path file = directory.resolve("allowed/large.onnx");
            Files.write(file, new byte[400_000]);
            TestingClient.Answer answer = asking.call(
                    RequestKind.IMPORT,
                    request(file.toUri().toString(), Task.REGRESSION, null).toJson());
            assertThat(answer.status()).isEqualTo(ErrorCode.MODEL_TOO_LARGE);
            assertThat(answer.message())
                    .isEqualTo("model file must be within its limit: bytes=400000, limitBytes=349525");
        }
    }

    @Test
    void withoutAnImportDirectoryOnlyTheStoreIsRead() throws IOException {
        try (TestingGateway closed = new TestingGateway(Map.of());
                TestingClient asking = closed.client()) {
            TestingClient.Answer answer = asking.call(
                    RequestKind.IMPORT,
                    request("file:/etc/passwd", Task.REGRESSION, null).toJson());
            assertThat(answer.status()).isEqualTo(ErrorCode.INVALID_VALUE);
            assertThat(answer.message())
                    .isEqualTo(
                            "local file cannot be imported while import-directory of gateway.properties is not set; a"
                                    + " file of the model store can, as store:import.d/NAME: uri=file:/etc/passwd");
        }
    }
}
