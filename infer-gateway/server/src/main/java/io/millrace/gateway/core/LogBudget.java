package io.millrace.gateway.core;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** A few lines a second, and how many were swallowed before the next one. Threads: any. */
final class LogBudget {
    private static final int LINES_PER_SECOND = 5;

    private final LongSupplier clock;
    private long startNanos;
    private int count;

    LogBudget(LongSupplier clock) {
        this.clock = clock;
    }

    /** How many lines were swallowed before this one; negative when it is swallowed too. */
    synchronized int admit() {
        long now = clock.getAsLong();
        int suppressed = 0;
        if (count == 0 || now - startNanos > TimeUnit.SECONDS.toNanos(1)) {
            suppressed = Math.max(0, count - LINES_PER_SECOND);
            startNanos = now;
            count = 0;
        }
        count++;
        return count <= LINES_PER_SECOND ? suppressed : -1;
    }
}
