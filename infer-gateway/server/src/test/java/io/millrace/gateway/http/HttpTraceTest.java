package io.millrace.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.millrace.gateway.core.Journal;
import io.millrace.gateway.core.Observer;
import io.millrace.gateway.core.TestingScorer;
import io.millrace.gateway.core.TestingServedModels;
import io.millrace.gateway.trace.SpanExport;
import io.millrace.gateway.trace.SpanObserver;
import io.millrace.gateway.trace.TestingCollector;
import io.millrace.gateway.trace.TraceConfig;
import io.opentelemetry.proto.trace.v1.Span;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HttpTraceTest {
    private static final String BODY =
            "{\"inputs\":[{\"name\":\"x\",\"shape\":[2],\"datatype\":\"FP64\",\"data\":[1,2]}]}";

    private static final SpanObserver NOBODY = new SpanObserver() {
        @Override
        public void exported(int spanCount) {}

        @Override
        public void failed(int spanCount) {}

        @Override
        public void dropped(int spanCount) {}
    };

    @Test
    void aSampledCallersRequestIsAChildOfItsSpan() throws Exception {
        try (TestingCollector collector = new TestingCollector();
                SpanExport export = new SpanExport(
                        new TraceConfig(URI.create(collector.endpoint() + "/v1/traces"), 0), "1.2.3", NOBODY);
                TestingHttp http =
                        new TestingHttp(Map.of(), new Journal(0, export, 0, Observer.NONE, System::nanoTime))) {
            TestingScorer scorer = new TestingScorer();
            http.deploy("echo", 14, key -> TestingServedModels.regression(key, scorer, 1_000, 65_536));
            assertThat(http.infer("echo", BODY).status()).isEqualTo(200);
            TestingHttp.Answer answer = http.send(http.request("/v2/models/echo/infer")
                    .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
                    .POST(HttpRequest.BodyPublishers.ofString(BODY)));
            assertThat(answer.status()).as(answer.text()).isEqualTo(200);
            List<Span> spans = collector.await(4);
            // The request before it has no caller and is not sampled.
            assertThat(spans)
                    .extracting(span -> TestingCollector.hex(span.getTraceId()))
                    .containsOnly("4bf92f3577b34da6a3ce929d0e0e4736");
            Span root = TestingCollector.root(spans, "00f067aa0ba902b7");
            assertThat(TestingCollector.attributes(root.getAttributesList()))
                    .contains(entry("millrace.kind", "predict"), entry("millrace.rows", "2"));
        }
    }
}
