package io.millrace.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.RowReader;
import io.millrace.contract.envelope.DescriptorParser;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.envelope.RowEncoder;
import io.millrace.contract.fitted.BoundTransform;
import io.millrace.contract.layout.PayloadLayout;
import io.millrace.contract.layout.RequestKind;
import io.millrace.contract.layout.RequestLayout;
import io.millrace.contract.layout.SlotLayout;
import io.millrace.engine.Engines;
import io.millrace.engine.TestingModels;
import io.millrace.engine.TestingModels.TestingPackage;
import io.millrace.engine.TestingRow;
import io.millrace.region.TestingBackend;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class GatewayTest {
    private static final double TOLERANCE = 1e-6;

    private static TestingGateway testing;
    private static TestingPackage binary;
    private static TestingPackage multiclass;
    private static TestingPackage regression;
    private static ModelReference binaryReference;
    private static ModelReference multiclassReference;
    private static ModelReference regressionReference;

    private TestingClient client;

    @BeforeAll
    static void start() throws IOException {
        testing = new TestingGateway(Map.of());
        binary = TestingModels.binary(testing.freshDirectory(), 1);
        multiclass = TestingModels.multiclass(testing.freshDirectory(), 2);
        regression = TestingModels.regression(testing.freshDirectory(), 3);
        binaryReference = testing.publish(binary, 11);
        multiclassReference = testing.publish(multiclass, 12);
        regressionReference = testing.publish(regression, 13);
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
    void everySlotComesBack() throws IOException {
        client.close();
        await().atMost(TestingClient.TIMEOUT)
                .untilAsserted(() -> assertThat(metric("millrace_slots_used")).isZero());
        assertThat(metric("millrace_in_flight")).isZero();
    }

    private static String metrics() throws IOException {
        try {
            return HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.1:"
                                            + testing.gateway().metricsPort() + "/metrics"))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static double metric(String name) throws IOException {
        return metrics()
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
                .findFirst()
                .orElseThrow();
    }

    private static List<Column> columns(TestingPackage model) {
        return model.fitted().inputs().columns();
    }

    private TestingClient.Answer ask(
            RequestKind kind, ModelReference reference, TestingPackage model, List<TestingRow> rows)
            throws IOException {
        return client.ask(kind, reference, columns(model), rows);
    }

    @Test
    void predictsWhatTheEvaluationSaid() throws IOException {
        TestingClient.Answer answer = ask(RequestKind.PREDICT, binaryReference, binary, binary.testRows());
        assertThat(answer.status()).isEqualTo(ErrorCode.OK);
        assertThat(answer.modelId()).isEqualTo(11);
        assertThat(answer.modelKey()).isEqualTo(binaryReference.modelKey());
        assertThat(answer.rows()).hasSize(TestingModels.TEST_ROWS);
        for (int row = 0; row < TestingModels.TEST_ROWS; row++) {
            assertThat(answer.rows().get(row).scalar())
                    .isCloseTo(binary.testScores().get(row).get(0), within(TOLERANCE));
        }
        answer = ask(RequestKind.PREDICT, regressionReference, regression, regression.testRows());
        for (int row = 0; row < TestingModels.TEST_ROWS; row++) {
            assertThat(answer.rows().get(row).scalar())
                    .isCloseTo(regression.testScores().get(row).get(0), within(TOLERANCE));
        }
    }

    @Test
    void predictsOneRowAsItDoesMany() throws IOException {
        for (int row = 0; row < TestingModels.TEST_ROWS; row++) {
            TestingClient.Answer answer = ask(
                    RequestKind.PREDICT,
                    binaryReference,
                    binary,
                    binary.testRows().subList(row, row + 1));
            assertThat(answer.rows().get(0).scalar())
                    .isCloseTo(binary.testScores().get(row).get(0), within(TOLERANCE));
        }
    }

    @Test
    void probabilitiesClassAndFullAgree() throws IOException {
        List<TestingRow> rows = multiclass.testRows();
        List<TestingClient.Row> probabilities =
                ask(RequestKind.PROBA, multiclassReference, multiclass, rows).rows();
        List<TestingClient.Row> classes =
                ask(RequestKind.CLASS, multiclassReference, multiclass, rows).rows();
        List<TestingClient.Row> predictions =
                ask(RequestKind.PREDICT, multiclassReference, multiclass, rows).rows();
        List<TestingClient.Row> full =
                ask(RequestKind.FULL, multiclassReference, multiclass, rows).rows();
        List<String> labels = multiclass.manifest().labels();
        for (int row = 0; row < rows.size(); row++) {
            List<Double> vector = probabilities.get(row).vector();
            List<Float> scores = multiclass.testScores().get(row);
            int best = 0;
            for (int index = 0; index < labels.size(); index++) {
                assertThat(vector.get(index)).isCloseTo(scores.get(index), within(TOLERANCE));
                best = scores.get(index) > scores.get(best) ? index : best;
            }
            assertThat(predictions.get(row).scalar()).isEqualTo(best);
            assertThat(classes.get(row).text()).isEqualTo(labels.get(best));
            assertThat(full.get(row)).isEqualTo(new TestingClient.Row(ErrorCode.OK, best, labels.get(best), vector));
        }
    }

    @Test
    void twoClassesHaveTwoProbabilities() throws IOException {
        List<TestingRow> rows = binary.testRows();
        List<TestingClient.Row> probabilities =
                ask(RequestKind.PROBA, binaryReference, binary, rows).rows();
        List<TestingClient.Row> classes =
                ask(RequestKind.CLASS, binaryReference, binary, rows).rows();
        for (int row = 0; row < rows.size(); row++) {
            double yes = binary.testScores().get(row).get(0);
            assertThat(probabilities.get(row).vector().get(1)).isCloseTo(yes, within(TOLERANCE));
            assertThat(probabilities.get(row).vector().stream()
                            .mapToDouble(value -> value)
                            .sum())
                    .isCloseTo(1, within(TOLERANCE));
            assertThat(classes.get(row).text()).isEqualTo(yes >= 0.5 ? "yes" : "no");
        }
    }

    @Test
    void preprocessAnswersWhatTheModelWouldSee() throws IOException {
        List<TestingRow> rows = binary.testRows();
        List<TestingClient.Row> answers =
                ask(RequestKind.PREPROCESS, binaryReference, binary, rows).rows();
        BoundTransform transform = binary.fitted().bind(columns(binary));
        float[] expected = new float[transform.width()];
        for (int row = 0; row < rows.size(); row++) {
            transform.apply(rows.get(row), expected, 0);
            for (int feature = 0; feature < expected.length; feature++) {
                assertThat(answers.get(row).vector().get(feature)).isEqualTo(Double.valueOf(expected[feature]));
            }
        }
    }

    @Test
    void regressionHasNoClasses() throws IOException {
        for (RequestKind kind : List.of(RequestKind.PROBA, RequestKind.CLASS)) {
            TestingClient.Answer answer = ask(
                    kind, regressionReference, regression, regression.testRows().subList(0, 1));
            assertThat(answer.status()).isEqualTo(ErrorCode.WRONG_TASK);
            assertThat(answer.message())
                    .isEqualTo("request must fit the task of the model: kind=" + kind
                            + ", task=REGRESSION, model=testing/13");
        }
        TestingClient.Answer full = ask(
                RequestKind.FULL,
                regressionReference,
                regression,
                regression.testRows().subList(0, 1));
        assertThat(full.rows().get(0).text()).isEmpty();
        assertThat(full.rows().get(0).vector()).isEmpty();
    }

    @Test
    void asksForModelAndDescriptor() throws IOException {
        ModelReference fresh = testing.publish(TestingModels.binary(testing.freshDirectory(), 70), 70);
        List<Column> renamed = new ArrayList<>(columns(binary));
        renamed.add(new Column("asksForModelAndDescriptor", ColumnType.INT64, true));
        List<TestingRow> rows = List.of(TestingRow.of(1L, 2.0, "gold", true, 18_000L, 5L));
        assertThat(client.send(RequestKind.PREDICT, fresh, renamed, rows, false, false)
                        .status())
                .isEqualTo(ErrorCode.NEED_MODEL);
        assertThat(client.send(RequestKind.PREDICT, fresh, renamed, rows, false, true)
                        .status())
                .isEqualTo(ErrorCode.NEED_DESCRIPTOR);
        assertThat(client.send(RequestKind.PREDICT, fresh, renamed, rows, true, false)
                        .status())
                .isEqualTo(ErrorCode.OK);
        assertThat(client.send(RequestKind.PREDICT, fresh, renamed, rows, false, false)
                        .status())
                .isEqualTo(ErrorCode.OK);
    }

    @Test
    void columnsAreTakenByNameAndMissingOnesAreNamed() throws IOException {
        List<Column> shuffled = new ArrayList<>(columns(binary));
        shuffled.add(0, new Column("other", ColumnType.TEXT, true));
        Collections.swap(shuffled, 1, 3);
        TestingRow row = binary.testRows().get(0);
        TestingRow shuffledRow =
                TestingRow.of("x", value(row, 2), value(row, 1), value(row, 0), value(row, 3), value(row, 4));
        TestingClient.Answer answer = client.ask(RequestKind.PREDICT, binaryReference, shuffled, List.of(shuffledRow));
        assertThat(answer.rows().get(0).scalar())
                .isCloseTo(binary.testScores().get(0).get(0), within(TOLERANCE));

        List<Column> fewer = columns(binary).subList(0, 4);
        TestingRow shorter = TestingRow.of(value(row, 0), value(row, 1), value(row, 2), value(row, 3));
        answer = client.ask(RequestKind.PREDICT, binaryReference, fewer, List.of(shorter));
        assertThat(answer.status()).isEqualTo(ErrorCode.MISSING_COLUMN);
        assertThat(answer.message()).contains("joined");
    }

    private static @Nullable Object value(TestingRow row, int column) {
        return row.values().get(column);
    }

    @Test
    void refusesABatchWithoutRows() throws IOException {
        TestingClient.Answer answer = ask(RequestKind.PREDICT, binaryReference, binary, List.of());
        assertThat(answer.status()).isEqualTo(ErrorCode.EMPTY_BATCH);
        assertThat(answer.message()).isEqualTo("request must have rows: rowCount=0");
    }

    @Test
    void oneWrongRowOfManyIsOneErrorAndNoneIsCrossed() throws IOException {
        List<Column> withText = new ArrayList<>(columns(binary));
        withText.set(4, new Column("joined", ColumnType.TEXT, true));
        List<TestingRow> rows = new ArrayList<>();
        for (TestingRow row : binary.testRows().subList(0, 32)) {
            Object joined = value(row, 4);
            rows.add(TestingRow.of(
                    value(row, 0),
                    value(row, 1),
                    value(row, 2),
                    value(row, 3),
                    joined == null ? null : LocalDate.ofEpochDay((Long) joined).toString()));
        }
        rows.set(17, TestingRow.of(1L, 2.0, "gold", true, "yesterday"));
        TestingClient.Answer answer = client.ask(RequestKind.PREDICT, binaryReference, withText, rows);
        assertThat(answer.status()).isEqualTo(ErrorCode.OK);
        for (int row = 0; row < rows.size(); row++) {
            if (row == 17) {
                assertThat(answer.rows().get(row).status()).isEqualTo(ErrorCode.INVALID_VALUE);
                assertThat(answer.rows().get(row).text()).contains("joined").doesNotContain("yesterday");
            } else {
                assertThat(answer.rows().get(row).scalar())
                        .isCloseTo(binary.testScores().get(row).get(0), within(TOLERANCE));
            }
        }
    }

    @Test
    void aBrokenPackageIsRefusedAndTheGoodModelServesOn() throws IOException {
        assertThat(ask(
                                RequestKind.PREDICT,
                                binaryReference,
                                binary,
                                binary.testRows().subList(0, 1))
                        .status())
                .isEqualTo(ErrorCode.OK);
        ModelReference broken = testing.publish(TestingModels.binary(testing.freshDirectory(), 71), 71);
        Path model = testing.storeRoot()
                .resolve(broken.uri().substring("store:".length()))
                .resolve("model.ubj");
        byte[] bytes = Files.readAllBytes(model);
        bytes[bytes.length / 2] ^= 1;
        Files.write(model, bytes);
        TestingClient.Answer answer = client.load(broken);
        assertThat(answer.status()).isEqualTo(ErrorCode.CORRUPT_PACKAGE);
        assertThat(answer.hint()).isEqualTo("Deploy another model, or train again.");
        bytes[bytes.length / 2] ^= 1;
        Files.write(model, bytes);
        assertThat(client.load(broken).status()).isEqualTo(ErrorCode.OK);
        assertThat(ask(
                                RequestKind.PREDICT,
                                binaryReference,
                                binary,
                                binary.testRows().subList(0, 1))
                        .status())
                .isEqualTo(ErrorCode.OK);
    }

    @Test
    void loadAnswersTheModelThatIsReady() throws IOException {
        TestingClient.Answer answer = client.load(regressionReference);
        assertThat(answer.status()).isEqualTo(ErrorCode.OK);
        assertThat(answer.modelKey()).isEqualTo(regressionReference.modelKey());
        assertThat(answer.modelId()).isEqualTo(13);
        ModelReference missing =
                new ModelReference(5, "testing", "testing", "store:testing/1/5-1", "ab".repeat(32), 100);
        assertThat(client.load(missing).status()).isEqualTo(ErrorCode.CORRUPT_PACKAGE);
        ModelReference otherKey =
                new ModelReference(5, "testing", "testing", regressionReference.uri(), "ab".repeat(32), 100);
        assertThat(client.load(otherKey).status()).isEqualTo(ErrorCode.CORRUPT_PACKAGE);
    }

    @Test
    void refusesAModelLargerThanItsMemoryWithAllNumbers() throws IOException {
        try (TestingGateway small = new TestingGateway(Map.of("cache-bytes", "1048576"));
                TestingClient smallClient = small.client()) {
            TestingPackage large = TestingModels.write(small.freshDirectory(), 9, List.of("a", "b"), 3000);
            long fileBytes = large.manifest().files().stream()
                    .filter(file -> file.name().equals(Engines.XGBOOST_FILE))
                    .mapToLong(file -> file.bytes())
                    .sum();
            assertThat(fileBytes).isGreaterThan(349_525);
            TestingClient.Answer answer = smallClient.load(small.publish(large, 9));
            assertThat(answer.status()).isEqualTo(ErrorCode.MODEL_TOO_LARGE);
            assertThat(answer.message())
                    .isEqualTo("model must fit the memory for models while it is loaded: fileBytes=" + fileBytes
                            + ", limitFileBytes=349525, budgetBytes=1048576");
        }
    }

    @Test
    void echoAndStatusNeedNoModel() throws IOException {
        String text = "wörk 🚀".repeat(1000);
        assertThat(client.call(RequestKind.ECHO, text.getBytes(StandardCharsets.UTF_8))
                        .rows()
                        .get(0)
                        .text())
                .isEqualTo(text);
        assertThat(client.call(RequestKind.STATUS, new byte[0]).rows().get(0).text())
                .startsWith("{\"worker\":\"gateway\",\"pid\":"
                        + ProcessHandle.current().pid())
                .contains("\"in-flight\":0", "\"queue-depth\":0", "\"models-loaded\":", "\"version\":");
    }

    @Test
    void whatDoesNotFitASlabGoesThroughAFileBothWays() throws IOException {
        int header = RequestLayout.HEADER_LENGTH;
        for (int length : new int[] {
            SlotLayout.SLAB_LENGTH - header - 1,
            SlotLayout.SLAB_LENGTH - header,
            SlotLayout.SLAB_LENGTH - header + 1,
            1 << 24,
            PayloadLayout.ROWS_LENGTH_LIMIT
        }) {
            byte[] payload = new byte[length];
            Arrays.fill(payload, (byte) 'x');
            TestingClient.Answer answer = client.call(RequestKind.ECHO, payload);
            assertThat(answer.status()).as(answer.message()).isEqualTo(ErrorCode.OK);
            String echoed = answer.rows().get(0).text();
            assertThat(echoed.length()).isEqualTo(length);
            assertThat(echoed.chars().allMatch(c -> c == 'x')).isTrue();
            assertNoPayloads();
        }
    }

    private static void assertNoPayloads() throws IOException {
        assertThat(metric("millrace_payload_bytes")).isZero();
        try (Stream<Path> files = Files.walk(testing.regionDirectory())) {
            assertThat(files.filter(Files::isRegularFile).map(Path::toString))
                    .noneMatch(file -> file.contains(PayloadLayout.DIRECTORY_PREFIX));
        }
    }

    @Test
    void predictsMoreRowsThanASlabHolds() throws IOException {
        int copies = 60_000 / TestingModels.TEST_ROWS;
        List<TestingRow> rows = new ArrayList<>();
        for (int copy = 0; copy < copies; copy++) {
            rows.addAll(binary.testRows());
        }
        TestingClient.Answer answer = ask(RequestKind.FULL, binaryReference, binary, rows);
        assertThat(answer.status()).as(answer.message()).isEqualTo(ErrorCode.OK);
        assertThat(answer.rows()).hasSize(rows.size());
        for (int row = 0; row < rows.size(); row++) {
            double expected =
                    binary.testScores().get(row % TestingModels.TEST_ROWS).get(0);
            assertThat(answer.rows().get(row).scalar()).isCloseTo(expected, within(TOLERANCE));
        }
        assertNoPayloads();
    }

    @Test
    void aRequestThatIsTooLongOrHasNoFileIsRefused() throws IOException {
        assertThat(statusOf(PayloadLayout.LENGTH_LIMIT + 1)).isEqualTo(ErrorCode.PAYLOAD_TOO_LARGE);
        assertThat(statusOf(-1)).isEqualTo(ErrorCode.PAYLOAD_TOO_LARGE);
        assertThat(statusOf(SlotLayout.SLAB_LENGTH + 1)).isEqualTo(ErrorCode.IO_FAILED);
        assertNoPayloads();
    }

    private ErrorCode statusOf(int requestLength) throws IOException {
        TestingBackend backend = client.backend();
        int slotIndex = backend.claim();
        backend.submit(slotIndex, RequestKind.ECHO.code(), 0, requestLength, TestingClient.TIMEOUT);
        backend.awaitDone(slotIndex, TestingClient.TIMEOUT);
        ErrorCode status = ErrorCode.of(backend.status(slotIndex));
        backend.free(slotIndex);
        return status;
    }

    @Test
    void aRequestAfterItsDeadlineIsToldSo() throws IOException {
        int slotIndex = client.backend().claim();
        byte[] request = TestingClient.request(0, 0, new byte[0], new byte[0], ByteBuffer.allocate(0));
        client.backend().submit(slotIndex, RequestKind.ECHO.code(), 0, request, Duration.ofSeconds(-1));
        client.backend().awaitDone(slotIndex, TestingClient.TIMEOUT);
        assertThat(client.backend().status(slotIndex)).isEqualTo(ErrorCode.DEADLINE_EXCEEDED.code());
        client.backend().free(slotIndex);
    }

    @Test
    void everyMutatedRequestGetsATypedAnswer() throws IOException {
        RowEncoder encoder = new RowEncoder(columns(binary));
        binary.testRows().subList(0, 2).forEach(encoder::add);
        byte[] descriptor = DescriptorParser.encode(columns(binary));
        byte[] whole = TestingClient.request(
                2, DescriptorParser.hash(descriptor), descriptor, binaryReference.toJson(), encoder.rows());
        long key = binaryReference.modelKey();
        for (int length = 0; length < whole.length; length++) {
            byte[] prefix = Arrays.copyOf(whole, length);
            assertThat(client.call(RequestKind.PREDICT, key, prefix).status())
                    .as("prefix " + length)
                    .isEqualTo(ErrorCode.INVALID_ENVELOPE);
        }
        for (int bit = 0; bit < whole.length * 8; bit++) {
            byte[] flipped = whole.clone();
            flipped[bit / 8] ^= (byte) (1 << (bit % 8));
            TestingClient.Answer answer = client.call(RequestKind.PREDICT, key, flipped);
            assertThat(answer.status()).as("bit " + bit).isNotEqualTo(ErrorCode.INTERNAL);
        }
        for (int kind : new int[] {0, 11, -1, Integer.MAX_VALUE}) {
            int slotIndex = client.backend().claim();
            client.backend().submit(slotIndex, kind, key, whole, TestingClient.TIMEOUT);
            client.backend().awaitDone(slotIndex, TestingClient.TIMEOUT);
            assertThat(client.backend().status(slotIndex)).isEqualTo(ErrorCode.UNSUPPORTED_KIND.code());
            client.backend().free(slotIndex);
        }
    }

    @Test
    void manySessionsAndModelsNeverCrossAnswers() throws Exception {
        int sessionCount = 8;
        ExecutorService executor = Executors.newFixedThreadPool(sessionCount);
        try {
            List<Future<Integer>> results = IntStream.range(0, sessionCount)
                    .mapToObj(seed -> executor.submit(() -> askRandomly(seed, 500)))
                    .toList();
            for (Future<Integer> result : results) {
                assertThat(result.get()).isEqualTo(500);
            }
        } finally {
            executor.shutdownNow();
        }
        assertThat(metric("millrace_rows_total")).isGreaterThanOrEqualTo(metric("millrace_executions_total"));
    }

    private static int askRandomly(int seed, int count) throws IOException {
        Random random = new Random(seed);
        int right = 0;
        try (TestingClient session = testing.client()) {
            for (int i = 0; i < count; i++) {
                boolean first = random.nextBoolean();
                TestingPackage model = first ? binary : regression;
                ModelReference reference = first ? binaryReference : regressionReference;
                int from = random.nextInt(TestingModels.TEST_ROWS);
                int to = from + 1 + random.nextInt(Math.min(8, TestingModels.TEST_ROWS - from));
                List<? extends RowReader> rows = model.testRows().subList(from, to);
                TestingClient.Answer answer = session.ask(RequestKind.PREDICT, reference, columns(model), rows);
                boolean same = answer.modelKey() == reference.modelKey();
                for (int row = from; row < to; row++) {
                    double expected = model.testScores().get(row).get(0);
                    same &= Math.abs(answer.rows().get(row - from).scalar() - expected) <= TOLERANCE;
                }
                right += same ? 1 : 0;
            }
        }
        return right;
    }

    @Test
    void metricsHaveEveryNameAndHelp() throws IOException {
        ask(RequestKind.PREDICT, binaryReference, binary, binary.testRows());
        String text = metrics();
        assertThat(text)
                .contains("millrace_request_total{code=\"ok\",kind=\"predict\",model=\"testing/11\"}")
                .contains("millrace_rows_total", "millrace_executions_total", "millrace_queue_seconds_bucket")
                .contains("millrace_transform_seconds_count", "millrace_score_seconds_sum")
                .contains("millrace_total_seconds_bucket", "millrace_pending_rows", "millrace_models_resident")
                .contains("millrace_models_bytes", "millrace_model_loads_total{code=\"ok\"}")
                .contains("millrace_heartbeat_age_seconds", "jvm_memory_used_bytes");
    }
}
