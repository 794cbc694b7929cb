package io.millrace.gateway.trace;

import io.millrace.gateway.core.EndedRequest;
import io.millrace.gateway.core.EndedRequest.Stages;
import io.millrace.gateway.core.TraceParent;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/*
 * Spans are made when a request has ended, of what is known of it then: whether to trace it at all depends on that, and
 * the threads that answer requests have better things to do.
 */
/**
 * The spans of requests: {@code request}, a child of the caller's span if there is one, and below it what the request
 * went through, {@code queue}, {@code transform} and {@code score}. Threads: one.
 */
final class RequestSpans {
    private static final AttributeKey<String> MODEL = AttributeKey.stringKey("millrace.model");
    private static final AttributeKey<String> KIND = AttributeKey.stringKey("millrace.kind");
    private static final AttributeKey<String> CODE = AttributeKey.stringKey("millrace.code");
    private static final AttributeKey<Long> ROWS = AttributeKey.longKey("millrace.rows");
    private static final AttributeKey<Long> BATCH_ROWS = AttributeKey.longKey("millrace.batch.rows");

    private final IdGenerator random = IdGenerator.random();
    private final Tracer tracer;
    private List<SpanData> ended = new ArrayList<>();
    private String traceId = "";
    private long epochNanos;

    /** Spans of a gateway of this version. */
    RequestSpans(String version) {
        Resource resource = Resource.getDefault()
                .merge(Resource.create(Attributes.of(
                        AttributeKey.stringKey("service.name"),
                        "millrace-gateway",
                        AttributeKey.stringKey("service.version"),
                        version,
                        AttributeKey.longKey("process.pid"),
                        ProcessHandle.current().pid())));
        tracer = SdkTracerProvider.builder()
                .setResource(resource)
                .setSampler(Sampler.alwaysOn())
                .setIdGenerator(new Ids())
                .addSpanProcessor(new Collector())
                .build()
                .get("io.millrace.gateway", version);
    }

    /** A root span has the trace id that its request came with. */
    private final class Ids implements IdGenerator {
        @Override
        public String generateSpanId() {
            return random.generateSpanId();
        }

        @Override
        public String generateTraceId() {
            return traceId;
        }
    }

    private final class Collector implements SpanProcessor {
        @Override
        public void onStart(Context parent, ReadWriteSpan span) {}

        @Override
        public boolean isStartRequired() {
            return false;
        }

        @Override
        public void onEnd(ReadableSpan span) {
            ended.add(span.toSpanData());
        }

        @Override
        public boolean isEndRequired() {
            return true;
        }
    }

    /** Spans that {@link #of} makes of a request. */
    static int count(EndedRequest request) {
        Stages stages = request.stages();
        return stages == null ? 1 : 2 + (stages.transformNanos() > 0 ? 1 : 0) + (stages.scoreNanos() > 0 ? 1 : 0);
    }

    /** All spans of some requests, whose times are of {@link System#nanoTime}. */
    List<SpanData> of(List<EndedRequest> requests) {
        Instant now = Instant.now();
        epochNanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano() - System.nanoTime();
        requests.forEach(this::add);
        List<SpanData> made = ended;
        ended = new ArrayList<>();
        return made;
    }

    private void add(EndedRequest request) {
        traceId = request.trace().traceId();
        Span root = start(tracer.spanBuilder("request").setSpanKind(SpanKind.SERVER), parent(request.trace()), request);
        Stages stages = request.stages();
        if (stages != null) {
            root.setAttribute(BATCH_ROWS, stages.batchRows());
            Context inside = Context.root().with(root);
            long begin = request.submittedNanos();
            addStage("queue", inside, begin, stages.queueNanos());
            begin += stages.queueNanos();
            if (stages.transformNanos() > 0) {
                addStage("transform", inside, begin, stages.transformNanos());
                begin += stages.transformNanos();
            }
            if (stages.scoreNanos() > 0) {
                addStage("score", inside, begin, stages.scoreNanos());
            }
        }
        end(root, request.endNanos());
    }

    private static Context parent(TraceParent trace) {
        if (!trace.hasCaller()) {
            return Context.root();
        }
        SpanContext caller = SpanContext.createFromRemoteParent(
                trace.traceId(),
                SpanId.fromLong(trace.spanId()),
                trace.sampled() ? TraceFlags.getSampled() : TraceFlags.getDefault(),
                TraceState.getDefault());
        return Context.root().with(Span.wrap(caller));
    }

    private Span start(SpanBuilder builder, Context parent, EndedRequest request) {
        Span span = start(builder, parent, request.submittedNanos());
        span.setAttribute(KIND, label(request.kind()));
        span.setAttribute(CODE, label(request.code()));
        span.setAttribute(ROWS, request.rowCount());
        if (!request.model().isEmpty()) {
            span.setAttribute(MODEL, request.model());
        }
        if (EndedRequest.isError(request.code())) {
            span.setStatus(StatusCode.ERROR, label(request.code()));
        }
        return span;
    }

    private void addStage(String name, Context parent, long startNanos, long durationNanos) {
        end(start(tracer.spanBuilder(name), parent, startNanos), startNanos + durationNanos);
    }

    private Span start(SpanBuilder builder, Context parent, long startNanos) {
        return builder.setParent(parent)
                .setStartTimestamp(epochNanos + startNanos, TimeUnit.NANOSECONDS)
                .startSpan();
    }

    private void end(Span span, long endNanos) {
        span.end(epochNanos + endNanos, TimeUnit.NANOSECONDS);
    }

    private static String label(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
