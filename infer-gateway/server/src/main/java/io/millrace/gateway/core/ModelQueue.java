package io.millrace.gateway.core;

import java.util.ArrayDeque;

/**
 * Requests that wait for one model, either its single ones or those of large jobs, first in first out, bounded in rows.
 * Threads: any.
 *
 * <p>It also remembers whether the {@link RunQueue} holds it, so that it is there at most once.
 */
final class ModelQueue {
    private final ServedModel model;
    private final boolean bulk;
    private final int rowLimit;
    private final ArrayDeque<Request> waiting = new ArrayDeque<>();
    private final WaitingLine line = new WaitingLine();
    private int waitingRows;
    private boolean scheduled;

    /** Time that the model may still have in this round; the run queue's, as are the two below. */
    long deficitNanos;

    /** Rows and expected time of the next batch, as they were looked at last. */
    int nextRows;

    long nextNanos;

    ModelQueue(ServedModel model, boolean bulk, int rowLimit) {
        this.model = model;
        this.bulk = bulk;
        this.rowLimit = rowLimit;
    }

    ServedModel model() {
        return model;
    }

    /** Whether it holds the requests of large jobs. */
    boolean isBulk() {
        return bulk;
    }

    /** Those for whom there is no room. */
    WaitingLine line() {
        return line;
    }

    /** Appends a request; false when its rows do not fit. */
    synchronized boolean offer(Request request) {
        // A request larger than the whole queue is taken when it is alone, or it could never be served.
        if (waitingRows != 0 && waitingRows + request.rowCount() > rowLimit) {
            return false;
        }
        waiting.addLast(request);
        waitingRows += request.rowCount();
        return true;
    }

    /**
     * Takes what waits, up to a number of rows; at least one request if there is any.
     *
     * @param batch receives the requests
     */
    synchronized void take(Batch batch, int rowsMax) {
        Request next = waiting.peekFirst();
        while (next != null && (batch.isEmpty() || batch.rowCount() + next.rowCount() <= rowsMax)) {
            waiting.removeFirst();
            waitingRows -= next.rowCount();
            batch.add(next);
            next = waiting.peekFirst();
        }
    }

    /** Rows that {@link #take} would take: a first request that is larger is taken alone. */
    synchronized int nextRows(int rowsMax) {
        Request first = waiting.peekFirst();
        return first == null ? 0 : Math.max(first.rowCount(), Math.min(waitingRows, rowsMax));
    }

    /**
     * Until when the first request may be kept waiting for others; the pipeline's clock, any number when it is empty.
     *
     * @param windowNanos of requests whose project does not say
     */
    synchronized long windowEndNanos(long windowNanos) {
        Request first = waiting.peekFirst();
        if (first == null) {
            return 0;
        }
        Allowance project = first.projectAllowance;
        return first.acceptedNanos() + (project == null ? windowNanos : project.mergeWindowNanos(windowNanos));
    }

    int rowLimit() {
        return rowLimit;
    }

    synchronized int waitingRows() {
        return waitingRows;
    }

    /** Whether the caller must put it into the run queue: it has work and is not there. */
    synchronized boolean shouldSchedule() {
        if (scheduled || waiting.isEmpty()) {
            return false;
        }
        scheduled = true;
        return true;
    }

    /** Whether the run queue must forget it: it has no work. */
    synchronized boolean shouldLeave() {
        scheduled = !waiting.isEmpty();
        return !scheduled;
    }
}
