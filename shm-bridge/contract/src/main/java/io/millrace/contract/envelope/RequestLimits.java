package io.millrace.contract.envelope;

import io.millrace.contract.Fnv1a;
import io.millrace.contract.JsonObject;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What may be asked of a gateway, by one project or by all, and how it is served. In each limit 0 stands for none.
 *
 * @param requestsPerSecond as many at once after a second of rest
 * @param rowsPerSecond the same for rows
 * @param concurrentRequests that are in the gateway at a time
 * @param waits whether a request above a limit waits for its turn until its deadline instead of being refused
 * @param mergeWindowMicros how long a request may wait for others while a batch of its model runs; {@link
 *     #MERGE_WINDOW_UNSET} leaves it to the gateway
 */
public record RequestLimits(
        long requestsPerSecond, long rowsPerSecond, long concurrentRequests, boolean waits, long mergeWindowMicros) {
    /** Largest number of each. */
    public static final long LIMIT_MAX = 10_000_000;

    /** Longest merge window. */
    public static final long MERGE_WINDOW_MICROS_MAX = 100_000;

    /** A merge window that is not said here. */
    public static final long MERGE_WINDOW_UNSET = -1;

    /** No limits. */
    public static final RequestLimits NONE = new RequestLimits(0, 0, 0, false);

    private static final String WAIT = "wait";
    private static final String REJECT = "reject";
    static final String MERGE_WINDOW = "merge-window-micros";

    /** Limits that say nothing of the merge window. */
    public RequestLimits(long requestsPerSecond, long rowsPerSecond, long concurrentRequests, boolean waits) {
        this(requestsPerSecond, rowsPerSecond, concurrentRequests, waits, MERGE_WINDOW_UNSET);
    }

    /** Whether nothing is said. */
    public boolean isEmpty() {
        return requestsPerSecond == 0 && rowsPerSecond == 0 && concurrentRequests == 0 && !hasMergeWindow();
    }

    /** Whether the merge window is said here. */
    public boolean hasMergeWindow() {
        return mergeWindowMicros != MERGE_WINDOW_UNSET;
    }

    /**
     * The name of these limits in a request's header: FNV-1a 64 of the numbers as little-endian i64, waiting as 1, the
     * merge window only if it is set; 0 if nothing is said.
     */
    public long fingerprint() {
        if (isEmpty()) {
            return 0;
        }
        ByteBuffer numbers =
                ByteBuffer.allocate((hasMergeWindow() ? 5 : 4) * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        numbers.putLong(requestsPerSecond)
                .putLong(rowsPerSecond)
                .putLong(concurrentRequests)
                .putLong(waits ? 1 : 0);
        if (hasMergeWindow()) {
            numbers.putLong(mergeWindowMicros);
        }
        return Fnv1a.of(numbers, 0, numbers.capacity());
    }

    static RequestLimits from(JsonObject json) {
        RequestLimits limits = new RequestLimits(
                json.integer("requests-per-second", 0, LIMIT_MAX),
                json.integer("rows-per-second", 0, LIMIT_MAX),
                json.integer("concurrent-requests", 0, LIMIT_MAX),
                waits(json),
                json.has(MERGE_WINDOW) ? json.integer(MERGE_WINDOW, 0, MERGE_WINDOW_MICROS_MAX) : MERGE_WINDOW_UNSET);
        json.finish();
        return limits;
    }

    private static boolean waits(JsonObject json) {
        String onLimit = json.string("on-limit");
        if (!onLimit.equals(WAIT) && !onLimit.equals(REJECT)) {
            throw json.wrong("on-limit", "must be " + REJECT + " or " + WAIT);
        }
        return onLimit.equals(WAIT);
    }

    String onLimit() {
        return waits ? WAIT : REJECT;
    }
}
