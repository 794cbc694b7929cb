package io.millrace.gateway.core;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What one project, or all of them, used so far. The limits are not here but with who asks: sessions that see another
 * version of them, as an old snapshot does, are held to theirs against the same counters. Threads: any.
 */
final class LimitScope {
    final TokenBucket requests;
    final TokenBucket rows;
    final AtomicLong concurrent = new AtomicLong();
    final WaitingLine line = new WaitingLine();

    LimitScope(long nowNanos) {
        requests = new TokenBucket(nowNanos);
        rows = new TokenBucket(nowNanos);
    }

    /** Whether forgetting it would change nothing. */
    boolean isIdle(long nowNanos) {
        return concurrent.get() == 0 && !line.isBusy() && requests.isFull(nowNanos) && rows.isFull(nowNanos);
    }
}
