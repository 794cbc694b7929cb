package io.millrace.gateway.core;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.RequestLimits;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The limits that hold for a request in one scope.
 *
 * @param scope what is used
 * @param project name; null for the limits of the gateway itself
 */
record Allowance(
        LimitScope scope, RequestLimits limits, @Nullable String project) {
    private static final String REQUESTS_PER_SECOND = "requests_per_second";
    private static final String ROWS_PER_SECOND = "rows_per_second";
    private static final String CONCURRENT_REQUESTS = "concurrent_requests";

    /**
     * Takes what a request needs, all or nothing.
     *
     * @param inTurn whether it has waited in line and may pass those who wait
     * @return null when it is taken; {@link #leave} gives back what is not for good
     */
    @Nullable
    Refusal take(int rowCount, long nowNanos, boolean inTurn) {
        if (!inTurn && limits.waits()) {
            Refusal before = scope.line.refusal();
            if (before != null) {
                return before;
            }
        }
        long concurrent = scope.concurrent.incrementAndGet();
        if (limits.concurrentRequests() != 0 && concurrent > limits.concurrentRequests()) {
            scope.concurrent.decrementAndGet();
            return refusal(CONCURRENT_REQUESTS, limits.concurrentRequests(), 1, ", inFlight=" + (concurrent - 1));
        }
        long waitNanos = take(scope.requests, 1, limits.requestsPerSecond(), nowNanos);
        if (waitNanos > 0) {
            scope.concurrent.decrementAndGet();
            return refusal(REQUESTS_PER_SECOND, limits.requestsPerSecond(), 1, retry(waitNanos));
        }
        waitNanos = take(scope.rows, rowCount, limits.rowsPerSecond(), nowNanos);
        if (waitNanos > 0) {
            giveBack(scope.requests, 1, limits.requestsPerSecond());
            scope.concurrent.decrementAndGet();
            return refusal(ROWS_PER_SECOND, limits.rowsPerSecond(), rowCount, retry(waitNanos));
        }
        return null;
    }

    /**
     * The request ended.
     *
     * @param unused whether nothing was done for it, so that it does not count
     */
    void leave(int rowCount, boolean unused) {
        if (unused) {
            giveBack(scope.requests, 1, limits.requestsPerSecond());
            giveBack(scope.rows, rowCount, limits.rowsPerSecond());
        }
        scope.concurrent.decrementAndGet();
    }

    /** How long a request may wait for others of its model, or what holds where the project does not say; nanoseconds. */
    long mergeWindowNanos(long otherwise) {
        return limits.hasMergeWindow() ? TimeUnit.MICROSECONDS.toNanos(limits.mergeWindowMicros()) : otherwise;
    }

    private static long take(TokenBucket bucket, long count, long perSecond, long nowNanos) {
        return perSecond == 0 ? 0 : bucket.take(count, perSecond, nowNanos);
    }

    private static void giveBack(TokenBucket bucket, long count, long perSecond) {
        if (perSecond != 0) {
            bucket.giveBack(count, perSecond);
        }
    }

    private static String retry(long waitNanos) {
        return ", retryMillis=" + (TimeUnit.NANOSECONDS.toMillis(waitNanos - 1) + 1);
    }

    private Refusal refusal(String limit, long value, long requested, String detail) {
        String numbers = "value=" + value + ", requested=" + requested + detail;
        WaitingLine line = limits.waits() ? scope.line : null;
        if (project == null) {
            String key = limit.replace('_', '-');
            return new Refusal(
                    ErrorCode.LIMIT_EXCEEDED,
                    "gateway_" + limit,
                    "limit of the gateway is reached: limit=" + key + ", " + numbers,
                    "Ask less at once, or raise " + key + " in gateway.properties.",
                    line);
        }
        return new Refusal(
                ErrorCode.LIMIT_EXCEEDED,
                "project_" + limit,
                "limit of the project is reached: project=" + project + ", limit=" + limit + ", " + numbers,
                "Ask less at once, or change " + limit + " of the project in ml.limits.",
                line);
    }
}
