package io.millrace.gateway.core;

import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Models with waiting work, served in turn: a worker takes one batch of the first and puts the model back at the end, so
 * a slow model does not starve a fast one. Threads: any.
 */
final class RunQueue {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition available = lock.newCondition();
    private final ArrayDeque<ModelQueue> queues = new ArrayDeque<>();
    private boolean closed;

    /** Appends a model whose {@link ModelQueue#shouldSchedule} said so. */
    void add(ModelQueue queue) {
        lock.lock();
        try {
            queues.addLast(queue);
            available.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a model with work; null after {@link #close}, once nothing is left. */
    @Nullable
    ModelQueue take() throws InterruptedException {
        lock.lock();
        try {
            while (queues.isEmpty() && !closed) {
                available.await();
            }
            ModelQueue queue = queues.pollFirst();
            if (queue != null) {
                queue.unscheduled();
            }
            return queue;
        } finally {
            lock.unlock();
        }
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
