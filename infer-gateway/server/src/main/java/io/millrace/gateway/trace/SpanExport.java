package io.millrace.gateway.trace;

import io.millrace.gateway.core.EndedRequest;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.logging.Level;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * A collector that is slow or away costs the requests nothing: they leave a small record in a bounded queue, or, when
 * that is full, only a count. One thread sends the queue in batches, one at a time, each within a time of its own.
 */
/** Sends the spans of traced requests to a collector: OTLP, protobuf over HTTP. Threads: any, and one of its own. */
public final class SpanExport implements Consumer<EndedRequest>, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SpanExport.class);

    /** The exporter tells every failure, on standard error; it is told here and counted. Held, or it is forgotten. */
    private static final java.util.logging.Logger EXPORTER_LOG =
            java.util.logging.Logger.getLogger("io.opentelemetry.exporter");

    /** Requests that may wait for the collector: about 2 MB. */
    static final int WAITING_MAX = 8_192;

    /** Requests of one export. */
    private static final int BATCH_MAX = 512;

    /** How long the first of a batch waits for others. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Longest time for one export, attempts after a failure included. */
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /** Longest time to send what waits at the end. */
    private static final Duration FLUSH = Duration.ofSeconds(2);

    private final TraceConfig config;
    private final SpanObserver observer;
    private final SpanExporter exporter;
    private final RequestSpans spans;
    private final Thread thread;
    private final ArrayDeque<EndedRequest> waiting = new ArrayDeque<>();
    private boolean closing;
    private boolean abandoned;
    private boolean failing;

    /** Begins to send. */
    public SpanExport(TraceConfig config, String version, SpanObserver observer) {
        EXPORTER_LOG.setLevel(Level.OFF);
        this.config = config;
        this.observer = observer;
        this.spans = new RequestSpans(version);
        this.exporter = OtlpHttpSpanExporter.builder()
                .setEndpoint(config.endpoint().toString())
                .setTimeout(TIMEOUT)
                .build();
        this.thread = new Thread(this::run, "span-export");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void accept(EndedRequest request) {
        if (!offer(request)) {
            observer.dropped(RequestSpans.count(request));
        }
    }

    private synchronized boolean offer(EndedRequest request) {
        if (closing || waiting.size() == WAITING_MAX) {
            return false;
        }
        waiting.addLast(request);
        if (waiting.size() == 1 || waiting.size() == BATCH_MAX) {
            notifyAll();
        }
        return true;
    }

    /** Requests that wait for the collector. */
    public synchronized int waitingCount() {
        return waiting.size();
    }

    private void run() {
        try {
            List<EndedRequest> batch = next();
            while (!batch.isEmpty()) {
                export(batch);
                batch = next();
            }
        } catch (InterruptedException e) {
            log.warn("export of spans is interrupted");
        } catch (Error e) {
            log.error("spans cannot be sent any longer", e);
            giveUp();
        }
    }

    private synchronized void giveUp() {
        closing = true;
        waiting.forEach(request -> observer.dropped(RequestSpans.count(request)));
        waiting.clear();
    }

    /** Waits for the next batch; empty at the end. */
    private synchronized List<EndedRequest> next() throws InterruptedException {
        while (waiting.isEmpty() && !closing) {
            wait();
        }
        long end = System.nanoTime() + PAUSE_NANOS;
        long left = PAUSE_NANOS;
        while (left > 0 && waiting.size() < BATCH_MAX && !closing) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
            left = end - System.nanoTime();
        }
        List<EndedRequest> batch = new ArrayList<>();
        if (abandoned) {
            log.warn("spans are abandoned: otlp-endpoint={}, requests={}", config.endpoint(), waiting.size());
            waiting.forEach(request -> observer.dropped(RequestSpans.count(request)));
            waiting.clear();
        }
        while (!waiting.isEmpty() && batch.size() < BATCH_MAX) {
            batch.add(waiting.removeFirst());
        }
        return batch;
    }

    private void export(List<EndedRequest> batch) {
        CompletableResultCode result = send(batch);
        int count = batch.stream().mapToInt(RequestSpans::count).sum();
        if (result.isSuccess()) {
            observer.exported(count);
        } else {
            observer.failed(count);
        }
        report(result);
    }

    private CompletableResultCode send(List<EndedRequest> batch) {
        try {
            // The exporter keeps the time by itself; this is for the case that it does not.
            return exporter.export(spans.of(batch)).join(2 * TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RuntimeException e) {
            return CompletableResultCode.ofExceptionalFailure(e);
        }
    }

    /** Told when it changes, since a collector may be away for days. */
    private void report(CompletableResultCode result) {
        if (failing == result.isSuccess()) {
            failing = !failing;
            if (failing) {
                log.warn(
                        "collector does not take spans: otlp-endpoint={}, reason={}",
                        config.endpoint(),
                        String.valueOf(result.getFailureThrowable()));
            } else {
                log.info("collector takes spans again: otlp-endpoint={}", config.endpoint());
            }
        }
    }

    /** Sends what waits, for {@link #FLUSH} at most. */
    @Override
    public void close() {
        synchronized (this) {
            closing = true;
            notifyAll();
        }
        try {
            thread.join(FLUSH.toMillis());
            synchronized (this) {
                abandoned = true;
            }
            thread.interrupt();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        exporter.shutdown();
    }
}
