package io.millrace.gateway.core;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.RequestKind;
import org.jspecify.annotations.Nullable;

/**
 * What there is to tell of one request that ended; never its values. Times are nanoseconds of the pipeline's clock.
 *
 * @param model that it was bound to; empty when it came to none
 * @param submittedNanos when its caller handed it over
 * @param endNanos when its answer, or its error, was ready
 * @param stages null when it was in no batch
 */
public record EndedRequest(
        TraceParent trace,
        RequestKind kind,
        String model,
        int rowCount,
        ErrorCode code,
        long submittedNanos,
        long endNanos,
        @Nullable Stages stages) {

    /**
     * What a request went through, one after the other. Of one that is scored in blocks the last two are the sums.
     *
     * @param queueNanos from being handed over to the beginning of its batch, a load of its model included
     * @param transformNanos of its batch; 0 when that failed before
     * @param scoreNanos of its batch; 0 when that failed before, or there was nothing to score
     * @param batchRows of all requests of its batch
     */
    public record Stages(long queueNanos, long transformNanos, long scoreNanos, int batchRows) {}

    /** Of a request that is ending; before it gives its model back. */
    static EndedRequest of(Request request, ErrorCode code, long endNanos) {
        return new EndedRequest(
                request.traceParent(),
                request.kind(),
                request.modelName(),
                request.rowCount(),
                code,
                request.submittedNanos(),
                endNanos,
                stages(request, endNanos));
    }

    private static @Nullable Stages stages(Request request, long endNanos) {
        BatchTimes times = request.times;
        if (times == null) {
            return null;
        }
        // Preprocessing is answered while its batch is still being transformed.
        long transformNanos =
                request.kind() == RequestKind.PREPROCESS ? endNanos - times.startNanos() : times.transformNanos();
        return new Stages(
                times.startNanos() - request.submittedNanos(), transformNanos, times.scoreNanos(), times.rowCount());
    }

    /** From being handed over to the end. */
    public long totalNanos() {
        return endNanos - submittedNanos;
    }

    /** Whether it went wrong; to be asked for a model or a descriptor is the protocol's normal course. */
    public static boolean isError(ErrorCode code) {
        return code != ErrorCode.OK && code != ErrorCode.NEED_MODEL && code != ErrorCode.NEED_DESCRIPTOR;
    }
}
