package io.millrace.train.dispatch;

import java.util.concurrent.TimeUnit;

/**
 * Ends a follower's waits early: when its run's row has changed, and when an answer it waits for has come.
 *
 * <p>A change stays to be heard until the row is read, so one that comes between two waits is not lost. Threads: one
 * waits, any number ring.
 */
final class RunBell {
    private boolean changed;
    private boolean answered;

    /** The row has changed. */
    synchronized void ring() {
        changed = true;
        notifyAll();
    }

    /** An answer has come. */
    synchronized void answer() {
        answered = true;
        notifyAll();
    }

    /** The row is about to be read. */
    synchronized void heard() {
        changed = false;
    }

    /** Waits for any of these, or for the time to pass. */
    synchronized void await(long millis) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        long remaining = millis;
        while (!changed && !answered && remaining > 0) {
            wait(remaining);
            remaining = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        }
        answered = false;
    }
}
