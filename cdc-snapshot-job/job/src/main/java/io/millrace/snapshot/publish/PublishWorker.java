package io.millrace.snapshot.publish;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.lake.LakeConfig;
import io.millrace.snapshot.SharedCatalog;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.RuntimeIOException;
import org.apache.iceberg.jdbc.UncheckedSQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Fitting takes seconds and the database may be away, so requests are answered on threads of their own; the task's thread goes
 * on. What has been answered is handed back through a queue and leaves the operator's state with the next checkpoint. Until
 * then a crash brings the request back, and answering it again finds everything done.
 */
/** Answers requests off the task's thread, again and again, at growing intervals, while what they need is away. */
final class PublishWorker {
    private static final Logger LOG = LoggerFactory.getLogger(PublishWorker.class);
    private static final long COMMIT_PAUSE_MILLIS = 50;
    private static final int COMMIT_SHIFT_MAX = 5;

    /**
     * Checkpoints that complete after the one by which a request is due until its commit must be there: the sink commits before
     * it takes part in the second one. Counted, not told from ids: a checkpoint that is given up has an id too, and the next
     * one that completes brings its commit.
     */
    private static final int COMPLETIONS_TO_COMMIT = 2;

    /** About a quarter of an hour: then the lake is not away for a moment. */
    private static final int LAKE_FAILURES_MAX = 36;

    private static final long RETRY_MILLIS_MAX = 30_000;
    private static final int RETRY_SHIFT_MAX = 8;
    private static final long PULSE_WAITING_MILLIS = 500;
    private static final long CLOSE_SECONDS = 10;

    private final ScheduledExecutorService threads;
    private final Publication publication;
    private final SnapshotRows rows;
    /** Requests taken on, and how many checkpoints had completed by then. */
    private final Map<Long, Integer> known = new ConcurrentHashMap<>();

    private final Queue<Long> finished = new ConcurrentLinkedQueue<>();
    private volatile boolean closing;
    private volatile int completions;

    PublishWorker(
            LakeConfig lakeConfig,
            SnapshotRows rows,
            Map<String, String> lakeTables,
            List<String> runs,
            int threadCount) {
        SharedCatalog catalog = new SharedCatalog(lakeConfig);
        this.rows = rows;
        this.publication = new Publication(catalog.hold(), rows, lakeTables, new CommitSearch(runs));
        this.threads = new ScheduledThreadPoolExecutor(threadCount + 1, daemonThreads()) {
            @Override
            protected void terminated() {
                // Not before the last thread is through with it, however long that goes on after close.
                catalog.release();
            }
        };
    }

    private static ThreadFactory daemonThreads() {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, "snapshot-publisher-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Notes that a checkpoint is complete: the sink has been told to commit it. Called by one thread. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    void checkpointComplete() {
        completions++;
    }

    /** Takes on requests; those it already has are left alone. */
    void answer(List<PublishRequest> due) {
        for (PublishRequest request : due) {
            if (known.putIfAbsent(request.snapshotId(), completions) == null) {
                schedule(() -> attempt(request, 0, 0), 0);
            }
        }
    }

    /** Looks which requests need no answer any more, because somebody else has settled them. */
    void forgetSettled(List<PublishRequest> waiting) {
        for (PublishRequest request : waiting) {
            schedule(
                    () -> {
                        try {
                            if (rows.read(request.snapshotId())
                                    .map(SnapshotRow::settled)
                                    .orElse(true)) {
                                finished.add(request.snapshotId());
                            }
                        } catch (SQLException e) {
                            LOG.debug("request is looked at again after the next start", e);
                        }
                    },
                    0);
        }
    }

    /** Says of a request that it waits for its table's initial load. */
    void announceLoading(long snapshotId) {
        schedule(
                () -> {
                    try {
                        rows.loading(snapshotId);
                    } catch (SQLException e) {
                        LOG.warn("snapshot cannot be announced as loading: snapshotId={}", snapshotId, e);
                    }
                },
                0);
    }

    /** Says that the table's initial load has been joined with the log, in a complete checkpoint. */
    void announceStreaming(String relation) {
        announce(() -> rows.streaming(relation), relation, 0);
    }

    /** Says that the table has to be loaded again. */
    void announceStale(String relation) {
        announce(() -> rows.reload(relation), relation, 0);
    }

    /** An update of the database that must arrive. */
    @FunctionalInterface
    private interface Announcement {
        void run() throws SQLException;
    }

    private void announce(Announcement announcement, String relation, int failures) {
        schedule(
                () -> {
                    try {
                        announcement.run();
                    } catch (SQLException e) {
                        LOG.info("status cannot be announced: relation={}, cause={}", relation, e.getMessage());
                        announce(announcement, relation, failures + 1);
                    }
                },
                failures == 0 ? 0 : pauseMillis(failures));
    }

    /** Ids answered since the last call. */
    List<Long> drainFinished() {
        List<Long> ids = new ArrayList<>();
        for (Long id = finished.poll(); id != null; id = finished.poll()) {
            ids.add(id);
            known.remove(id);
        }
        return ids;
    }

    /** Moves the log on now and then every so often: more often while {@code hurry} says that somebody waits for it. */
    void pulse(long idleMillis, BooleanSupplier hurry) {
        schedule(() -> beat(idleMillis, hurry, System.nanoTime()), 0);
    }

    private void beat(long idleMillis, BooleanSupplier hurry, long lastNanos) {
        long sinceMillis = (System.nanoTime() - lastNanos) / 1_000_000;
        long next = lastNanos;
        if (hurry.getAsBoolean() || sinceMillis >= idleMillis) {
            next = System.nanoTime();
            try {
                rows.pulse();
            } catch (SQLException e) {
                LOG.debug("log cannot be moved on", e);
            }
        }
        long at = next;
        schedule(() -> beat(idleMillis, hurry, at), PULSE_WAITING_MILLIS);
    }

    /**
     * Tries once to answer.
     *
     * @param looks how often its commit has been looked for in vain
     * @param failures how often something has failed
     */
    private void attempt(PublishRequest request, int looks, int failures) {
        try {
            // Read first: what it says must not be newer than the history that is looked at.
            boolean overdue =
                    completions - known.getOrDefault(request.snapshotId(), completions) >= COMPLETIONS_TO_COMMIT;
            switch (publication.publish(request, overdue)) {
                case ANSWERED, GONE -> done(request);
                case NOT_COMMITTED ->
                    schedule(
                            () -> attempt(request, looks + 1, 0),
                            COMMIT_PAUSE_MILLIS << Math.min(looks, COMMIT_SHIFT_MAX));
                case STALE_TABLE -> {
                    // The table leaves this job; the request stays in its state and is due again when the table is
                    // back.
                    LOG.info("columns have changed, the table is loaded again: relation={}", request.relation());
                    announceStale(request.relation());
                }
            }
        } catch (SQLException e) {
            again(request, failures, e);
        } catch (RuntimeException e) {
            if (closing) {
                return;
            }
            if (isPassing(e) && failures < LAKE_FAILURES_MAX) {
                again(request, failures, e);
            } else {
                fail(request, failures, e);
            }
        } catch (OutOfMemoryError e) {
            fail(request, failures, new IllegalStateException("table does not fit into memory while it is fitted", e));
        }
    }

    private void fail(PublishRequest request, int failures, RuntimeException reason) {
        LOG.warn("snapshot fails: snapshotId={}, relation={}", request.snapshotId(), request.relation(), reason);
        try {
            String message = reason.getMessage();
            rows.failed(request.snapshotId(), message == null ? reason.toString() : message);
            done(request);
        } catch (SQLException e) {
            again(request, failures, e);
        }
    }

    private void again(PublishRequest request, int failures, Exception cause) {
        long pauseMillis = pauseMillis(failures);
        LOG.info(
                "snapshot waits for what it needs: snapshotId={}, failures={}, pauseMillis={}, cause={}",
                request.snapshotId(),
                failures + 1,
                pauseMillis,
                cause.toString());
        schedule(() -> attempt(request, 0, failures + 1), pauseMillis);
    }

    private static long pauseMillis(int failures) {
        return Math.min(RETRY_MILLIS_MAX, 100L << Math.min(failures, RETRY_SHIFT_MAX));
    }

    private void done(PublishRequest request) {
        finished.add(request.snapshotId());
    }

    /** Failures of the surroundings, which pass; everything else is the request's own. */
    private static boolean isPassing(RuntimeException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException
                    || cause instanceof UncheckedSQLException
                    || cause instanceof UncheckedIOException
                    || cause instanceof RuntimeIOException
                    || cause instanceof CommitFailedException
                    || cause instanceof CommitStateUnknownException
                    || (cause instanceof ContractException contract && contract.code() == ErrorCode.IO_FAILED)) {
                return true;
            }
        }
        return false;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // each task deals with its own failures
    private void schedule(Runnable task, long delayMillis) {
        if (closing) {
            return;
        }
        try {
            threads.schedule(
                    () -> {
                        try {
                            task.run();
                        } catch (RuntimeException e) {
                            LOG.error("publisher task failed", e);
                        }
                    },
                    delayMillis,
                    TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("publisher is closing", e);
        }
    }

    /** Stops answering and waits a moment for the threads; what is unanswered stays in the operator's state. */
    void close() throws InterruptedException {
        closing = true;
        threads.shutdownNow();
        if (!threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
            LOG.warn("publisher threads go on after the task: limitSeconds={}", CLOSE_SECONDS);
        }
    }
}
