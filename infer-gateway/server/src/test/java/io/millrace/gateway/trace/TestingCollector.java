package io.millrace.gateway.trace;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** A collector of OTLP over HTTP that decodes what it is sent. Threads: any. */
public final class TestingCollector implements AutoCloseable {
    private static final long TIMEOUT_MILLIS = TimeUnit.SECONDS.toMillis(30);

    private final HttpServer server;
    private final List<ResourceSpans> received = new ArrayList<>();
    private int status = 200;

    public TestingCollector() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8);
        server.createContext("/v1/traces", this::take);
        server.start();
    }

    private void take(HttpExchange exchange) throws IOException {
        ExportTraceServiceRequest request = ExportTraceServiceRequest.parseFrom(exchange.getRequestBody());
        int answer;
        synchronized (this) {
            answer = status;
            if (answer == 200) {
                received.addAll(request.getResourceSpansList());
                notifyAll();
            }
        }
        exchange.sendResponseHeaders(answer, -1);
        exchange.close();
    }

    /** Answers so from now on; only 200 takes spans. */
    public synchronized void answer(int newStatus) {
        status = newStatus;
    }

    /** For {@code otlp-endpoint}. */
    public String endpoint() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** All spans so far. */
    public synchronized List<Span> spans() {
        return received.stream()
                .flatMap(resource -> resource.getScopeSpansList().stream())
                .flatMap(scope -> scope.getSpansList().stream())
                .toList();
    }

    /** All spans, once there are that many. */
    public synchronized List<Span> await(int spanCount) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MILLIS);
        while (spans().size() < spanCount) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                throw new IllegalStateException("spans do not come: wanted=" + spanCount + ", spans=" + spans());
            }
            wait(left);
        }
        return spans();
    }

    /** What the sender says of itself. */
    public synchronized Map<String, String> resource() {
        return attributes(received.get(0).getResource().getAttributesList());
    }

    /** The span of a request, found to be the child of a caller's span and the parent of all others. */
    public static Span root(List<Span> spans, String callerSpanId) {
        assertThat(spans).extracting(Span::getName).containsExactlyInAnyOrder("request", "queue", "transform", "score");
        Span root = spans.stream()
                .filter(span -> span.getName().equals("request"))
                .findFirst()
                .orElseThrow();
        assertThat(hex(root.getParentSpanId())).isEqualTo(callerSpanId);
        assertThat(spans)
                .filteredOn(span -> !span.equals(root))
                .allSatisfy(span -> assertThat(span.getParentSpanId()).isEqualTo(root.getSpanId()));
        return root;
    }

    /** Attributes by name, each in its only form. */
    public static Map<String, String> attributes(List<KeyValue> attributes) {
        Map<String, String> values = new TreeMap<>();
        attributes.forEach(attribute -> values.put(
                attribute.getKey(),
                attribute.getValue().hasIntValue()
                        ? Long.toString(attribute.getValue().getIntValue())
                        : attribute.getValue().getStringValue()));
        return values;
    }

    public static String hex(ByteString id) {
        return HexFormat.of().formatHex(id.toByteArray());
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
