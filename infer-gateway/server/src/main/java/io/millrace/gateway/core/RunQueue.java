package io.millrace.gateway.core;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/*
 * Deficit round robin, counted in time. In each round every model that waits earns a quantum, and the first one that has
 * earned what its next batch is expected to take gets a worker; what it really took is what it pays. So models share the
 * workers evenly in time, not in batches, and one request a second for a fast model does not wait behind ten slow ones.
 * Rounds in which nobody has earned enough are skipped. A debt outlives an empty queue, or a slow model that is asked by
 * one caller at a time would never pay.
 *
 * A worker cannot be taken away, so long batches of one model never take the last one. A short model finds it free.
 *
 * Large jobs have queues of their own, which earn and pay among themselves. Single requests go first; while large jobs
 * wait, every fourth part of the time is theirs.
 */
/** Models with waiting work, and which of them a worker takes next. Threads: any. */
final class RunQueue {
    private static final long QUANTUM_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** A batch that takes longer leaves a worker to the other models. */
    static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** Time of single requests for each unit of time of large jobs. */
    private static final long SINGLE_PARTS = 3;

    /** Between two looks at the clock while only merge windows are waited for. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final int workerCount;
    private final int batchRowsMax;
    private final long mergeWindowNanos;
    private final LongSupplier clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition available = lock.newCondition();
    private final ArrayDeque<ModelQueue> queues = new ArrayDeque<>();
    private long bulkCreditNanos;
    private long windowNanos;
    private boolean closed;

    RunQueue(PipelineConfig config, LongSupplier clock) {
        this.workerCount = config.workerCount();
        this.batchRowsMax = config.batchRowsMax();
        this.mergeWindowNanos = config.mergeWindowNanos();
        this.clock = clock;
    }

    /** Appends a queue whose {@link ModelQueue#shouldSchedule} said so. */
    void add(ModelQueue queue) {
        lock.lock();
        try {
            queues.addLast(queue);
            available.signal();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for work and takes a batch of it. {@link #done} must follow.
     *
     * @param batch receives the requests
     * @return whose they are; null after {@link #close}, once nothing is left
     */
    @Nullable
    ModelQueue take(Batch batch) throws InterruptedException {
        lock.lock();
        try {
            while (true) {
                ModelQueue queue = next();
                if (queue != null) {
                    take(queue, batch);
                    return queue;
                }
                if (closed && queues.isEmpty()) {
                    return null;
                }
                if (windowNanos == 0) {
                    available.await();
                } else {
                    long leftNanos = available.awaitNanos(Math.min(windowNanos, LOOK_NANOS));
                    assert leftNanos <= LOOK_NANOS : leftNanos;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** A batch that was taken has run. */
    void done(ModelQueue queue, Batch batch, long tookNanos) {
        lock.lock();
        try {
            queue.model().running().decrementAndGet();
            queue.deficitNanos += batch.expectedNanos - tookNanos;
            // What was held back for this model may run now.
            available.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void take(ModelQueue queue, Batch batch) {
        queue.take(batch, queue.model().blockRows(batchRowsMax));
        batch.expectedNanos = queue.nextNanos;
        queue.model().running().incrementAndGet();
        queues.remove(queue);
        if (queue.shouldLeave()) {
            queue.deficitNanos = Math.min(0, queue.deficitNanos);
        } else {
            queues.addLast(queue);
            // Another worker may take what is left.
            available.signal();
        }
    }

    private @Nullable ModelQueue next() {
        windowNanos = 0;
        forgetEmpty();
        ModelQueue single = first(false);
        ModelQueue bulk = first(true);
        if (bulk == null) {
            bulkCreditNanos = 0;
        } else if (single == null || bulkCreditNanos >= bulk.nextNanos) {
            bulkCreditNanos = Math.max(0, bulkCreditNanos - bulk.nextNanos);
            charge(bulk);
            return bulk;
        }
        if (single != null) {
            bulkCreditNanos += bulk == null ? 0 : single.nextNanos / SINGLE_PARTS;
            charge(single);
        }
        return single;
    }

    private void forgetEmpty() {
        for (Iterator<ModelQueue> all = queues.iterator(); all.hasNext(); ) {
            ModelQueue queue = all.next();
            queue.nextRows = queue.nextRows(queue.model().blockRows(batchRowsMax));
            if (queue.nextRows == 0 && queue.shouldLeave()) {
                queue.deficitNanos = Math.min(0, queue.deficitNanos);
                all.remove();
            } else {
                long expected = queue.model().cost().expectedNanos(queue.nextRows);
                queue.nextNanos = expected == Long.MAX_VALUE ? QUANTUM_NANOS : expected;
            }
        }
    }

    /** The queue that needs the fewest rounds; of several, the one that waits the longest. */
    private @Nullable ModelQueue first(boolean bulk) {
        ModelQueue best = null;
        for (ModelQueue queue : queues) {
            if (queue.isBulk() == bulk && mayRun(queue) && (best == null || rounds(queue) < rounds(best))) {
                best = queue;
            }
        }
        return best;
    }

    private void charge(ModelQueue taken) {
        long rounds = rounds(taken);
        for (ModelQueue queue : queues) {
            if (queue.isBulk() == taken.isBulk() && mayRun(queue)) {
                queue.deficitNanos += rounds * QUANTUM_NANOS;
            }
        }
        taken.deficitNanos -= taken.nextNanos;
    }

    private static long rounds(ModelQueue queue) {
        return Math.max(0, (queue.nextNanos - queue.deficitNanos + QUANTUM_NANOS - 1) / QUANTUM_NANOS);
    }

    private boolean mayRun(ModelQueue queue) {
        int running = queue.model().running().get();
        if (running > 0 && queue.nextNanos > LONG_NANOS && running >= workerCount - 1) {
            return false;
        }
        if (running == 0 || queue.nextRows >= queue.model().blockRows(batchRowsMax)) {
            return true;
        }
        long leftNanos = queue.windowEndNanos(mergeWindowNanos) - clock.getAsLong();
        if (leftNanos <= 0) {
            return true;
        }
        windowNanos = windowNanos == 0 ? leftNanos : Math.min(windowNanos, leftNanos);
        return false;
    }

    void close() {
        lock.lock();
        try {
            closed = true;
            available.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
