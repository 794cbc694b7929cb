package io.millrace.gateway.core;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/*
 * A bucket that holds a second's worth is one number: the time at which it will be full again. Taking tokens moves that
 * time forward, and it may be at most a second ahead. So taking is one compare-and-set, nobody has to refill, and a
 * bucket whose rate changes keeps the share of it that is used.
 *
 * A request larger than the whole bucket could never be served. It is let in when the bucket is full, and those after
 * it wait until it is paid off, so the rate holds all the same.
 */
/** Tokens that come back at a steady rate, a second's worth at most; the rate is the taker's to say. Threads: any. */
final class TokenBucket {
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final AtomicLong fullNanos;

    /** A full bucket. */
    TokenBucket(long nowNanos) {
        fullNanos = new AtomicLong(nowNanos);
    }

    /**
     * Takes tokens, all or none.
     *
     * @param count at most {@link io.millrace.contract.layout.RequestLayout#ROW_LIMIT}
     * @param perSecond above 0
     * @return 0 when they are taken; else nanoseconds until they could be, if nobody else takes any
     */
    long take(long count, long perSecond, long nowNanos) {
        long costNanos = costNanos(count, perSecond);
        while (true) {
            long full = fullNanos.get();
            long usedNanos = Math.max(0, full - nowNanos);
            if (usedNanos > 0 && usedNanos + costNanos > SECOND_NANOS) {
                return Math.min(usedNanos, usedNanos + costNanos - SECOND_NANOS);
            }
            if (fullNanos.compareAndSet(full, nowNanos + usedNanos + costNanos)) {
                return 0;
            }
        }
    }

    /** Puts back what was taken and not used. */
    void giveBack(long count, long perSecond) {
        fullNanos.addAndGet(-costNanos(count, perSecond));
    }

    /** Whether nothing is missing. */
    boolean isFull(long nowNanos) {
        return fullNanos.get() - nowNanos <= 0;
    }

    private static long costNanos(long count, long perSecond) {
        return count * SECOND_NANOS / perSecond;
    }
}
