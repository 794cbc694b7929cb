package io.millrace.gateway.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.RequestKind;
import io.millrace.gateway.core.EndedRequest;
import io.millrace.gateway.core.EndedRequest.Stages;
import io.millrace.gateway.core.TraceParent;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SpanExportTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final long MILLI = 1_000_000;
    private static final TraceParent CALLED = new TraceParent(0x4bf92f3577b34da6L, 2, 0xf067aa0ba902b7L, true);

    private final AtomicInteger exported = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicInteger dropped = new AtomicInteger();
    private final SpanObserver observer = new SpanObserver() {
        @Override
        public void exported(int spanCount) {
            exported.addAndGet(spanCount);
        }

        @Override
        public void failed(int spanCount) {
            failed.addAndGet(spanCount);
        }

        @Override
        public void dropped(int spanCount) {
            dropped.addAndGet(spanCount);
        }
    };

    private SpanExport export(String endpoint) {
        return new SpanExport(new TraceConfig(URI.create(endpoint + "/v1/traces"), 1), "1.2.3", observer);
    }

    private static EndedRequest request(TraceParent trace, ErrorCode code, @Nullable Stages stages) {
        long now = System.nanoTime();
        return new EndedRequest(
                trace, RequestKind.PREDICT, stages == null ? "" : "churn/1", 2, code, now - 20 * MILLI, now, stages);
    }

    private static Span named(List<Span> spans, String name) {
        return spans.stream()
                .filter(span -> span.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void stagesAreChildrenOneAfterTheOther() throws Exception {
        try (TestingCollector collector = new TestingCollector();
                SpanExport export = export(collector.endpoint())) {
            export.accept(request(CALLED, ErrorCode.OK, new Stages(3 * MILLI, 5 * MILLI, 7 * MILLI, 64)));
            List<Span> spans = collector.await(4);
            Span root = named(spans, "request");
            assertThat(TestingCollector.hex(root.getTraceId())).isEqualTo("4bf92f3577b34da60000000000000002");
            assertThat(TestingCollector.hex(root.getParentSpanId())).isEqualTo("00f067aa0ba902b7");
            assertThat(root.getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_SERVER);
            assertThat(root.getStatus().getCode()).isEqualTo(Status.StatusCode.STATUS_CODE_UNSET);
            assertThat(root.getEndTimeUnixNano() - root.getStartTimeUnixNano()).isEqualTo(20 * MILLI);
            assertThat(Instant.ofEpochSecond(0, root.getEndTimeUnixNano()))
                    .isBetween(Instant.now().minus(TIMEOUT), Instant.now());
            long begin = root.getStartTimeUnixNano();
            for (String name : List.of("queue", "transform", "score")) {
                Span stage = named(spans, name);
                assertThat(stage.getTraceId()).isEqualTo(root.getTraceId());
                assertThat(stage.getParentSpanId()).isEqualTo(root.getSpanId());
                assertThat(stage.getStartTimeUnixNano()).isEqualTo(begin);
                begin = stage.getEndTimeUnixNano();
            }
            assertThat(begin - root.getStartTimeUnixNano()).isEqualTo(15 * MILLI);
            assertThat(TestingCollector.attributes(root.getAttributesList()))
                    .containsOnly(
                            entry("millrace.model", "churn/1"),
                            entry("millrace.kind", "predict"),
                            entry("millrace.code", "ok"),
                            entry("millrace.rows", "2"),
                            entry("millrace.batch.rows", "64"));
            assertThat(collector.resource())
                    .containsEntry("service.name", "millrace-gateway")
                    .containsEntry("service.version", "1.2.3");
        }
    }

    @Test
    void withoutACallerTheRequestIsTheRoot() throws Exception {
        try (TestingCollector collector = new TestingCollector();
                SpanExport export = export(collector.endpoint())) {
            export.accept(request(new TraceParent(8, 9, 0, false), ErrorCode.QUEUE_FULL, null));
            Span root = collector.await(1).get(0);
            assertThat(TestingCollector.hex(root.getTraceId())).isEqualTo("00000000000000080000000000000009");
            assertThat(root.getParentSpanId().isEmpty()).isTrue();
            assertThat(root.getStatus().getCode()).isEqualTo(Status.StatusCode.STATUS_CODE_ERROR);
            assertThat(root.getStatus().getMessage()).isEqualTo("queue_full");
            assertThat(TestingCollector.attributes(root.getAttributesList()))
                    .doesNotContainKeys("millrace.model", "millrace.batch.rows");
        }
    }

    @Test
    void theEndSendsWhatWaits() throws Exception {
        try (TestingCollector collector = new TestingCollector()) {
            SpanExport export = export(collector.endpoint());
            for (int i = 0; i < 1_000; i++) {
                export.accept(request(CALLED, ErrorCode.OK, null));
            }
            export.close();
            assertThat(collector.spans()).hasSize(1_000);
            assertThat(exported).hasValue(1_000);
            export.accept(request(CALLED, ErrorCode.OK, null));
            assertThat(dropped).as("nobody sends it any more").hasValue(1);
        }
    }

    @Test
    void aRefusedExportIsCountedAndTheNextOneIsSent() throws Exception {
        try (TestingCollector collector = new TestingCollector();
                SpanExport export = export(collector.endpoint())) {
            collector.answer(400);
            export.accept(request(CALLED, ErrorCode.OK, new Stages(1, 1, 1, 1)));
            await().atMost(TIMEOUT).untilAsserted(() -> assertThat(failed).hasValue(4));
            collector.answer(200);
            export.accept(request(CALLED, ErrorCode.OK, null));
            assertThat(collector.await(1)).hasSize(1);
        }
    }

    @Test
    void aSilentCollectorFillsABoundedQueueAndDoesNotHoldTheEndUp() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            SpanExport export = export("http://127.0.0.1:" + silent.getLocalPort());
            int requests = 2 * SpanExport.WAITING_MAX;
            for (int i = 0; i < requests; i++) {
                export.accept(request(CALLED, ErrorCode.OK, null));
                assertThat(export.waitingCount()).isLessThanOrEqualTo(SpanExport.WAITING_MAX);
            }
            assertThat(dropped.get()).isPositive();
            export.close();
            await().atMost(TIMEOUT)
                    .untilAsserted(
                            () -> assertThat(failed.get() + dropped.get()).isEqualTo(requests));
            assertThat(exported).hasValue(0);
        }
    }

    @Test
    void countsTheSpansThatItMakes() {
        RequestSpans spans = new RequestSpans("1");
        for (Stages stages : new Stages[] {
            null, new Stages(1, 0, 0, 1), new Stages(1, 1, 0, 1), new Stages(0, 0, 1, 1), new Stages(1, 1, 1, 1)
        }) {
            EndedRequest request = request(CALLED, ErrorCode.OK, stages);
            assertThat(spans.of(List.of(request))).hasSize(RequestSpans.count(request));
        }
    }
}
