package io.millrace.gateway.core;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Whoever settles a request cannot know, when that throws, whether the request has ended; a second try could answer the
 * slot's next request. So nothing here throws: what fails beside the hand-over is logged and passed over.
 */
/**
 * How every request ends: counted, its model given back, handed over. The hand-over comes last, since the connector may
 * reuse the object from then on. Threads: any.
 */
final class Settlement {
    private static final Logger log = LoggerFactory.getLogger(Settlement.class);

    private final Observer observer;
    private final LongSupplier clock;
    private final FailureLog failures;
    private final Runnable givenBack;
    private final @Nullable Journal journal;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger pendingRows = new AtomicInteger();

    /**
     * Settles for one pipeline.
     *
     * @param givenBack told when a request ends for which others wait
     * @param journal told of every request; null when nobody reads it
     */
    Settlement(Observer observer, LongSupplier clock, Runnable givenBack, @Nullable Journal journal) {
        this.observer = observer;
        this.journal = journal;
        this.clock = clock;
        this.givenBack = givenBack;
        this.failures = new FailureLog(clock);
    }

    /** A request came in. */
    void open() {
        inFlight.incrementAndGet();
    }

    /** Requests that came in and did not end. */
    int inFlight() {
        return inFlight.get();
    }

    /** Rows entered a queue, or left it when negative. */
    void pend(int rowCount) {
        pendingRows.addAndGet(rowCount);
    }

    /** Rows in all queues. */
    int pendingRows() {
        return pendingRows.get();
    }

    /** The answer is written: hands it over. */
    void complete(Request request) {
        close(request, ErrorCode.OK);
        quietly(request.completion()::complete);
    }

    void fail(Request request, ContractException failure) {
        fail(request, failure.code(), String.valueOf(failure.getMessage()));
    }

    /** Fails a request for what went wrong, whatever that is; only a {@link ContractException} is expected. */
    void fail(Request request, Throwable failure) {
        if (failure instanceof ContractException known) {
            fail(request, known);
            return;
        }
        log.error("request failed: kind={}, traceId={}", request.kind(), request.traceId(), failure);
        fail(request, ErrorCode.INTERNAL, "request failed: reason=" + failure);
    }

    void fail(Request request, ErrorCode code, String message) {
        fail(request, code, message, hint(code));
    }

    void fail(Request request, ErrorCode code, String message, String hint) {
        quietly(() -> failures.failed(code, message, request.traceId()));
        close(request, code);
        quietly(() -> request.completion().fail(code, message, hint));
    }

    /** A connector could not even read a request, and has answered it itself. */
    void malformed(ErrorCode code, String message, String traceId) {
        failures.failed(code, message, traceId);
        observer.rejected(Observer.reason(code));
    }

    void failDeadline(Request request, long now) {
        fail(
                request,
                ErrorCode.DEADLINE_EXCEEDED,
                "request waited longer than its deadline: lateNanos=" + (now - request.deadlineNanos()));
    }

    private void close(Request request, ErrorCode code) {
        long now = clock.getAsLong();
        quietly(() -> observer.answered(request.modelName(), request.kind(), code, now - request.submittedNanos()));
        if (journal != null) {
            quietly(() -> journal.ended(request, code, now));
        }
        ServedModel model = request.model;
        if (model != null) {
            request.model = null;
            quietly(model::release);
        }
        if ((request.projectAllowance != null || request.gatewayAllowance != null) && Admission.leave(request, code)) {
            givenBack.run();
        }
        inFlight.decrementAndGet();
    }

    private static void quietly(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            log.error("request cannot be settled in order", e);
        }
    }

    static String hint(ErrorCode code) {
        return switch (code) {
            case QUEUE_FULL -> "Send fewer requests at once, or raise queue-rows in gateway.properties.";
            case DEADLINE_EXCEEDED -> "Raise ml.timeout_ms, or send fewer rows at once.";
            case SHUTTING_DOWN -> "The gateway is being stopped; call again when it is back.";
            case PAYLOAD_TOO_LARGE -> "Send fewer rows in one request.";
            case MODEL_TOO_LARGE -> "Raise cache-bytes in gateway.properties and the gateway's memory.";
            case STORE_UNAVAILABLE -> "Check store.properties of the gateway and that the store can be reached.";
            case CORRUPT_PACKAGE, CORRUPT_FITTED -> "Deploy another model, or train again.";
            default -> "";
        };
    }
}
