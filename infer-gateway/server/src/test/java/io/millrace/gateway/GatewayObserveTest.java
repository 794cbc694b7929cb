package io.millrace.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.contract.Column;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.layout.RequestKind;
import io.millrace.engine.TestingModels;
import io.millrace.engine.TestingModels.TestingPackage;
import io.millrace.gateway.trace.TestingCollector;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a whole gateway tells of a request that came through shared memory. */
class GatewayObserveTest {
    private static final Path DASHBOARD = Path.of("../../conf/grafana/millrace-gateway.json");
    private static final Pattern METRIC_NAME = Pattern.compile("\\b(millrace|jvm|process)_[a-z0-9_]+");
    private static final long SPAN_ID = 0x00f067aa0ba902b7L;

    private static TestingCollector collector;
    private static TestingGateway testing;
    private static TestingPackage model;
    private static ModelReference reference;

    @BeforeAll
    static void start() throws IOException {
        collector = new TestingCollector();
        testing = new TestingGateway(Map.of(
                "otlp-endpoint", collector.endpoint(), "trace-ratio", "0", "http-port", "0", "database-port", "1"));
        model = TestingModels.binary(testing.freshDirectory(), 1);
        reference = testing.publish(model, 11);
    }

    @AfterAll
    static void stop() throws IOException {
        testing.close();
        collector.close();
    }

    private static List<Column> columns() {
        return model.fitted().inputs().columns();
    }

    /** Spans of a trace, once there are as many. */
    private static List<Span> trace(long traceIdLow, int spanCount) throws InterruptedException {
        String traceId = String.format("0123456789abcdef%016x", traceIdLow);
        for (int wanted = spanCount; ; wanted++) {
            List<Span> found = collector.await(wanted).stream()
                    .filter(span -> TestingCollector.hex(span.getTraceId()).equals(traceId))
                    .toList();
            if (found.size() >= spanCount) {
                return found;
            }
        }
    }

    private static String metrics() throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + testing.gateway().metricsPort() + "/metrics");
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    /** Names of the samples in a text of Prometheus. */
    private static Set<String> names(String text) {
        Set<String> names = new TreeSet<>();
        text.lines().filter(line -> !line.startsWith("#")).forEach(line -> names.add(line.split("[{ ]", 2)[0]));
        return names;
    }

    @Test
    void aSampledCallersRequestIsAChildOfItsSpan() throws Exception {
        try (TestingClient client = testing.client()) {
            client.ask(RequestKind.PREDICT, reference, columns(), model.testRows());
            client.backend().trace(77, SPAN_ID, true);
            assertThat(client.send(
                                    RequestKind.PREDICT,
                                    reference,
                                    columns(),
                                    model.testRows().subList(0, 3),
                                    false,
                                    false)
                            .status())
                    .isEqualTo(ErrorCode.OK);
        }
        List<Span> spans = trace(77, 4);
        Span root = TestingCollector.root(spans, "00f067aa0ba902b7");
        assertThat(TestingCollector.attributes(root.getAttributesList()))
                .containsOnly(
                        entry("millrace.model", "testing/11"),
                        entry("millrace.kind", "predict"),
                        entry("millrace.code", "ok"),
                        entry("millrace.rows", "3"),
                        entry("millrace.batch.rows", "3"));
    }

    @Test
    void anErrorIsTracedWhateverTheCallerSays() throws Exception {
        try (TestingClient client = testing.client()) {
            client.backend().trace(78, SPAN_ID, false);
            assertThat(client.call(RequestKind.ECHO, new byte[] {1}).status()).isEqualTo(ErrorCode.OK);
            assertThat(client.ask(RequestKind.PREDICT, reference, columns(), List.of())
                            .status())
                    .isEqualTo(ErrorCode.EMPTY_BATCH);
        }
        Span span = trace(78, 1).get(0);
        assertThat(TestingCollector.attributes(span.getAttributesList())).containsEntry("millrace.code", "empty_batch");
        assertThat(span.getStatus().getMessage()).isEqualTo("empty_batch");
    }

    @Test
    void metricsAreTheSameThroughSharedMemory() throws Exception {
        try (TestingClient client = testing.client()) {
            client.ask(RequestKind.PREDICT, reference, columns(), model.testRows());
            TestingClient.Answer answer = client.call(RequestKind.METRICS, new byte[0]);
            assertThat(answer.status()).isEqualTo(ErrorCode.OK);
            JsonNode samples = new ObjectMapper().readTree(answer.rows().get(0).text());
            Set<String> told = new TreeSet<>();
            samples.forEach(sample -> told.add(sample.get("name").asText()));
            assertThat(told).isEqualTo(names(metrics()));
            assertThat(samples).anySatisfy(sample -> {
                assertThat(sample.get("name").asText()).isEqualTo("millrace_request_total");
                assertThat(sample.get("labels").get("model").asText()).isEqualTo("testing/11");
                assertThat(sample.get("labels").get("kind").asText()).isEqualTo("predict");
                assertThat(sample.get("labels").get("code").asText()).isEqualTo("ok");
                assertThat(sample.get("value").asDouble()).isPositive();
            });
            assertThat(samples).anySatisfy(sample -> {
                assertThat(sample.get("name").asText()).isEqualTo("millrace_memory_bytes");
                assertThat(sample.get("labels").get("part").asText()).isEqualTo("anonymous");
                assertThat(sample.get("value").asDouble()).isGreaterThan(1 << 20);
            });
        }
    }

    @Test
    void theDashboardAsksForMetricsThatThereAre() throws Exception {
        try (TestingClient client = testing.client()) {
            client.ask(RequestKind.PREDICT, reference, columns(), model.testRows());
        }
        JsonNode dashboard = new ObjectMapper().readTree(DASHBOARD.toFile());
        Set<String> asked = new TreeSet<>();
        for (JsonNode expression : dashboard.findValues("expr")) {
            expressionNames(expression.asText()).forEach(asked::add);
        }
        assertThat(asked).hasSizeGreaterThan(20);
        assertThat(names(metrics())).containsAll(asked);
    }

    private static Stream<String> expressionNames(String expression) {
        return METRIC_NAME.matcher(expression).results().map(MatchResult::group);
    }
}
