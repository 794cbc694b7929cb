package io.millrace.contract.envelope;

import io.millrace.contract.Fnv1a;
import io.millrace.contract.JsonObject;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What may be asked of a gateway, by one project or by all. In each number 0 stands for no limit.
 *
 * @param requestsPerSecond as many at once after a second of rest
 * @param rowsPerSecond the same for rows
 * @param concurrentRequests that are in the gateway at a time
 * @param waits whether a request above a limit waits for its turn until its deadline instead of being refused
 */
public record RequestLimits(long requestsPerSecond, long rowsPerSecond, long concurrentRequests, boolean waits) {
    /** Largest number of each. */
    public static final long LIMIT_MAX = 10_000_000;

    /** No limits. */
    public static final RequestLimits NONE = new RequestLimits(0, 0, 0, false);

    private static final String WAIT = "wait";
    private static final String REJECT = "reject";

    /** Whether nothing is limited. */
    public boolean isEmpty() {
        return requestsPerSecond == 0 && rowsPerSecond == 0 && concurrentRequests == 0;
    }

    /**
     * The name of these limits in a request's header: FNV-1a 64 of the four numbers as little-endian i64, waiting as 1;
     * 0 for no limits.
     */
    public long fingerprint() {
        if (isEmpty()) {
            return 0;
        }
        ByteBuffer numbers = ByteBuffer.allocate(4 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        numbers.putLong(requestsPerSecond)
                .putLong(rowsPerSecond)
                .putLong(concurrentRequests)
                .putLong(waits ? 1 : 0);
        return Fnv1a.of(numbers, 0, numbers.capacity());
    }

    static RequestLimits from(JsonObject json) {
        RequestLimits limits = new RequestLimits(
                json.integer("requests-per-second", 0, LIMIT_MAX),
                json.integer("rows-per-second", 0, LIMIT_MAX),
                json.integer("concurrent-requests", 0, LIMIT_MAX),
                waits(json));
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
