package io.millrace.gateway.http;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.JsonText;
import io.millrace.gateway.core.TraceParent;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One HTTP request and its one answer: the first to give it wins, later ones are dropped. Threads: any. */
final class Exchange {
    static final String JSON = "application/json";

    private static final Logger log = LoggerFactory.getLogger(Exchange.class);
    private static final int MESSAGE_LENGTH_MAX = 1_000;

    private final Request request;
    private final Response response;
    private final Callback callback;
    private final BooleanSupplier draining;
    private final TraceParent trace;
    private final AtomicBoolean ended = new AtomicBoolean();
    private volatile Scheduler.@Nullable Task deadline;
    private volatile boolean lastOfConnection;

    Exchange(Request request, Response response, Callback callback, BooleanSupplier draining) {
        this.request = request;
        this.response = response;
        this.callback = callback;
        this.draining = draining;
        this.trace = TraceParent.of(request.getHeaders().get(TraceParent.HEADER));
    }

    Request request() {
        return request;
    }

    TraceParent trace() {
        return trace;
    }

    /** Whether the caller still waits. */
    boolean isOpen() {
        return !ended.get();
    }

    /** Answers an error by itself when nobody did in time; a second call replaces the first. */
    void expire(Scheduler scheduler, long millis, Refusal refusal) {
        cancelDeadline();
        deadline = scheduler.schedule(() -> fail(refusal), millis, TimeUnit.MILLISECONDS);
        if (ended.get()) {
            cancelDeadline();
        }
    }

    /** From now on only the deadline ends the wait: neither an idle connection, nor one of which nothing is read. */
    void awaitAnswer() {
        request.addIdleTimeoutListener(timeout -> false);
        request.addFailureListener(this::lost);
    }

    private void cancelDeadline() {
        Scheduler.Task task = deadline;
        if (task != null) {
            task.cancel();
        }
    }

    /** The connection is gone. */
    void lost(Throwable failure) {
        if (end()) {
            callback.failed(failure);
        }
    }

    private boolean end() {
        boolean first = ended.compareAndSet(false, true);
        if (first) {
            cancelDeadline();
        }
        return first;
    }

    /** Answers with a document. */
    void json(int status, JsonText.Body body) {
        send(status, JSON, ByteBuffer.wrap(JsonText.of(body)), () -> {});
    }

    /** Answers an error, whatever it is. */
    void fail(Throwable failure) {
        if (failure instanceof Refusal refusal) {
            error(refusal.status(), refusal.getMessage(), refusal.header(), refusal.headerValue());
        } else if (failure instanceof ContractException known) {
            fail(known.code(), known.getMessage());
        } else if (failure instanceof TimeoutException) {
            error(HttpStatus.REQUEST_TIMEOUT_408, "request did not arrive in time", "Connection", "close");
        } else if (isOpen()) {
            log.error("request failed: traceId={}", trace.traceId(), failure);
            fail(ErrorCode.INTERNAL, "request failed: reason=" + failure);
        }
    }

    /**
     * As above, by the thread that reads the body. What has come of the rest is thrown away; if more is to come, the
     * connection ends with the answer and says so, or the caller would send its next request into its end.
     */
    void refuse(Throwable failure) {
        if (isOpen()) {
            lastOfConnection = !request.consumeAvailable();
        }
        fail(failure);
    }

    /** Answers an error of the pipeline. */
    void fail(ErrorCode code, @Nullable String message) {
        int status = Refusal.status(code);
        boolean again = status == HttpStatus.TOO_MANY_REQUESTS_429 || status == HttpStatus.SERVICE_UNAVAILABLE_503;
        error(status, message, again ? HttpHeader.RETRY_AFTER.asString() : "", "1");
    }

    private void error(int status, @Nullable String message, String header, String headerValue) {
        byte[] document = JsonText.of(out -> {
            out.writeStartObject();
            out.writeStringField("error", printable(String.valueOf(message)));
            out.writeEndObject();
        });
        send(status, JSON, ByteBuffer.wrap(document), header, headerValue, () -> {});
    }

    /** A message may repeat a name that is long, or not even Unicode. */
    private static String printable(String message) {
        String shortened =
                message.length() <= MESSAGE_LENGTH_MAX ? message : message.substring(0, MESSAGE_LENGTH_MAX) + "..";
        return new String(shortened.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    /**
     * Answers.
     *
     * @param sent called once the answer is out, or was not needed
     */
    void send(int status, String contentType, ByteBuffer body, Runnable sent) {
        send(status, contentType, body, "", "", sent);
    }

    /** As above, with one more header. */
    void send(int status, String contentType, ByteBuffer body, String header, String headerValue, Runnable sent) {
        if (!end()) {
            sent.run();
            return;
        }
        response.setStatus(status);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, contentType);
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.remaining());
        if (!header.isEmpty()) {
            response.getHeaders().put(header, headerValue);
        }
        if (lastOfConnection || draining.getAsBoolean()) {
            response.getHeaders().put(HttpHeader.CONNECTION, "close");
        }
        response.write(true, body, new Callback.Nested(callback) {
            @Override
            public void succeeded() {
                sent.run();
                super.succeeded();
            }

            @Override
            public void failed(Throwable failure) {
                sent.run();
                super.failed(failure);
            }
        });
    }
}
