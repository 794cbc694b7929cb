package io.millrace.gateway.core;

import io.millrace.contract.ErrorCode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Nobody is told when a bucket has tokens again, a caller cancels or a deadline passes, so one thread looks once a
 * millisecond while anybody waits, and sooner when it is woken because something was given back. Only the first of each
 * line tries; the others are only looked at. Idle, the thread sleeps.
 *
 * A wait ends a little before the deadline: the caller gives up at the deadline itself and would never read why.
 */
/** Where requests wait for a limit or a queue, in lines that are bounded in rows. Threads: any, and one of its own. */
final class WaitingRoom implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(WaitingRoom.class);
    private static final long LOOK_MILLIS = 1;
    private static final long MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final int lineRowsMax;
    private final Settlement settlement;
    private final Observer observer;
    private final LongSupplier clock;
    private final Consumer<Throwable> failed;
    private final Thread thread;
    private final Set<WaitingLine> lines = new LinkedHashSet<>();
    private int waitingCount;
    private boolean woken;
    private boolean draining;
    private boolean closed;

    /** One try to go on. */
    @FunctionalInterface
    interface Turn {
        /**
         * Sends the request on its way, or ends it.
         *
         * @return null when it is out of the room's hands; else why it still cannot go on
         */
        @Nullable
        Refusal attempt(Request request, long nowNanos);
    }

    record Waiting(Request request, Turn turn, Refusal refusal, long sinceNanos) {}

    /**
     * An empty room.
     *
     * @param lineRowsMax rows that may wait in one line
     * @param failed told what ended the room's thread, when nobody had closed it
     */
    WaitingRoom(
            int lineRowsMax, Settlement settlement, Observer observer, LongSupplier clock, Consumer<Throwable> failed) {
        this.lineRowsMax = lineRowsMax;
        this.settlement = settlement;
        this.observer = observer;
        this.clock = clock;
        this.failed = failed;
        this.thread = new Thread(this::run, "waiting-room");
        thread.start();
    }

    /** Puts a request at the end of a line; false when its rows do not fit, or nobody may wait any more. */
    synchronized boolean join(WaitingLine line, Request request, Refusal refusal, Turn turn) {
        if (draining || (line.rows != 0 && (long) line.rows + request.rowCount() > lineRowsMax)) {
            return false;
        }
        line.waiting.addLast(new Waiting(request, turn, refusal, clock.getAsLong()));
        line.rows += request.rowCount();
        waitingCount++;
        if (!line.isBusy()) {
            line.heldUpBy(refusal);
        }
        lines.add(line);
        notifyAll();
        return true;
    }

    /** Something was given back: somebody may go on. */
    synchronized void wake() {
        woken = true;
        notifyAll();
    }

    /** Requests in all lines. */
    synchronized int waitingCount() {
        return waitingCount;
    }

    /** Refuses all who wait. */
    synchronized void drain() {
        draining = true;
        wake();
    }

    private synchronized void run() {
        try {
            while (!closed) {
                if (lines.isEmpty()) {
                    wait();
                } else if (!woken) {
                    wait(LOOK_MILLIS);
                }
                woken = false;
                look();
            }
        } catch (InterruptedException e) {
            log.warn("waiting room is interrupted");
        } catch (RuntimeException | Error e) {
            // What requests do wrong ends with them, so this is the gateway's own.
            log.error("waiting room failed", e);
            failed.accept(e);
        }
    }

    private void look() {
        long now = clock.getAsLong();
        // A copy: who goes on may have to wait in another line.
        for (WaitingLine line : List.copyOf(lines)) {
            Refusal heldUpBy = look(line, now);
            if (line.waiting.isEmpty()) {
                lines.remove(line);
                line.heldUpBy(null);
            } else if (heldUpBy != null) {
                line.heldUpBy(heldUpBy);
            }
        }
    }

    private @Nullable Refusal look(WaitingLine line, long now) {
        Refusal heldUpBy = null;
        List<Runnable> ends = new ArrayList<>();
        for (Iterator<Waiting> all = line.waiting.iterator(); all.hasNext(); ) {
            Waiting waiting = all.next();
            Runnable end = end(waiting, now);
            if (end == null && heldUpBy == null) {
                heldUpBy = waiting.turn().attempt(waiting.request(), now);
                if (heldUpBy != null && heldUpBy.line() == null) {
                    end = refused(waiting, heldUpBy, now);
                    heldUpBy = null;
                } else if (heldUpBy == null) {
                    end = () -> {};
                }
            }
            if (end != null) {
                all.remove();
                line.rows -= waiting.request().rowCount();
                waitingCount--;
                observer.waited(waiting.refusal().reason(), now - waiting.sinceNanos());
                ends.add(end);
            }
        }
        ends.forEach(Runnable::run);
        return heldUpBy;
    }

    /** How a wait ends without its turn; null when it goes on. */
    private @Nullable Runnable end(Waiting waiting, long now) {
        Request request = waiting.request();
        if (!request.isWanted()) {
            return () -> settlement.fail(request, ErrorCode.CANCELLED, "request is cancelled");
        }
        if (draining) {
            return () -> settlement.fail(request, ErrorCode.SHUTTING_DOWN, "gateway is shutting down");
        }
        if (now - (request.deadlineNanos() - MARGIN_NANOS) > 0) {
            return refused(waiting, waiting.refusal(), now);
        }
        return null;
    }

    private Runnable refused(Waiting waiting, Refusal refusal, long now) {
        long waitedMillis = TimeUnit.NANOSECONDS.toMillis(now - waiting.sinceNanos());
        return () -> {
            if (refusal.isFinal()) {
                observer.rejected(refusal.reason());
            }
            settlement.fail(
                    waiting.request(),
                    refusal.code(),
                    refusal.message() + ", waitedMillis=" + waitedMillis,
                    refusal.hint());
        };
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            drain();
        }
        try {
            thread.join(TimeUnit.SECONDS.toMillis(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
