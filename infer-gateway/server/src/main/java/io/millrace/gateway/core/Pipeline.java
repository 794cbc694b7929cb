package io.millrace.gateway.core;

import static java.util.Objects.requireNonNull;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ImportAnswer;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.layout.RequestKind;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Natural batching. Nobody waits for a batch to fill: whoever is free takes all that waits for one model, and what
 * arrives meanwhile is the next batch. So a lone request is answered at once, and the more load there is, the larger the
 * batches are.
 *
 * Who is free? A connector that submits a burst runs it itself when the model's batches are known to be short (waking
 * another thread costs more), and returns to its callers in at most inlineNanos. Anything longer, and anything whose
 * cost is not known, goes to the workers, which serve the models in turn.
 *
 * A request that is above a limit, or finds its queue full, is refused or waits in the waiting room until it may take
 * the same way again, as it is configured.
 */
/**
 * The path of every request from admission to answer.
 *
 * <p>Threads: {@link #submit} from any; a {@link Burst} belongs to one.
 */
public final class Pipeline implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Pipeline.class);

    private final PipelineConfig config;
    private final Models models;
    private final Importer importer;
    private final Observer observer;
    private final LongSupplier clock;
    private final Function<RequestKind, String> reports;
    private final ReportThread reporter = new ReportThread();
    private final Admission admission;
    private final RunQueue runQueue;
    private final Settlement settlement;
    private final WaitingRoom waitingRoom;
    private final List<Thread> workers = new ArrayList<>();
    private final CompletableFuture<Throwable> failure = new CompletableFuture<>();

    /**
     * Starts the workers.
     *
     * @param reports text of the answer to {@link RequestKind#STATUS}, at once, or to {@link RequestKind#METRICS}
     * @param journal told of every request that ends; null when nobody reads it
     * @param clock nanoseconds of the deadlines' clock
     */
    public Pipeline(
            PipelineConfig config,
            Models models,
            Importer importer,
            Observer observer,
            Function<RequestKind, String> reports,
            @Nullable Journal journal,
            LongSupplier clock) {
        this.config = config;
        this.models = models;
        this.importer = importer;
        this.observer = observer;
        this.reports = reports;
        this.clock = clock;
        this.admission = new Admission(config.limits(), clock.getAsLong());
        this.runQueue = new RunQueue(config, clock);
        this.settlement = new Settlement(observer, clock, this::wakeWaiting, journal);
        this.waitingRoom = new WaitingRoom(config.waitingRowsMax(), settlement, observer, clock, failure::complete);
        for (int index = 0; index < config.workerCount(); index++) {
            Thread worker = new Thread(this::work, "worker-" + index);
            workers.add(worker);
            worker.start();
        }
    }

    /** Takes a request; its completion may be called before this returns. */
    public void submit(Request request) {
        ModelQueue queue = enter(request);
        if (queue != null) {
            schedule(queue);
        }
    }

    /** For a connector that could not read a request and answers it itself: counts and logs it. */
    public void malformed(ErrorCode code, String message, String traceId) {
        settlement.malformed(code, message, traceId);
    }

    /** For a connector that receives several requests at a time on one thread. */
    public Burst burst() {
        return new Burst();
    }

    /** Completes with what ended a worker that was not told to end; the pipeline is not to be used any longer then. */
    public CompletionStage<Throwable> failure() {
        return failure;
    }

    /** Requests that came in and did not end. */
    public int inFlight() {
        return settlement.inFlight();
    }

    /** Rows that wait for their model. */
    public int pendingRows() {
        return settlement.pendingRows();
    }

    /** Requests that wait for a limit or for room in a queue. */
    public int waiting() {
        return waitingRoom.waitingCount();
    }

    /** Projects with limits that are known. */
    public int tenants() {
        return admission.tenantCount();
    }

    private void wakeWaiting() {
        waitingRoom.wake();
    }

    /** The queue that now holds the request; null when it ended or waits. */
    private @Nullable ModelQueue enter(Request request) {
        settlement.open();
        try {
            admission.check(request);
        } catch (ContractException e) {
            observer.rejected(Observer.reason(e.code()));
            settlement.fail(request, e);
            return null;
        }
        if (admission.isLimited(request)) {
            Refusal refusal = limit(request, request.acceptedNanos(), false);
            if (refusal != null) {
                refuse(request, refusal, this::enterAgain);
                return null;
            }
        }
        return proceed(request);
    }

    private @Nullable Refusal enterAgain(Request request, long now) {
        Refusal refusal = limit(request, now, true);
        if (refusal == null) {
            ModelQueue queue = proceed(request);
            if (queue != null) {
                schedule(queue);
            }
        }
        return refusal;
    }

    private @Nullable Refusal limit(Request request, long now, boolean inTurn) {
        try {
            return admission.take(request, now, inTurn);
        } catch (ContractException e) {
            return Refusal.of(e);
        } catch (RuntimeException | Error e) {
            log.error("limits cannot be checked: traceId={}", request.traceId(), e);
            return Refusal.of(new ContractException(ErrorCode.INTERNAL, "request failed: reason=" + e, e));
        }
    }

    private void refuse(Request request, Refusal refusal, WaitingRoom.Turn again) {
        WaitingLine line = refusal.line();
        if (line != null && waitingRoom.join(line, request, refusal, again)) {
            return;
        }
        if (refusal.isFinal()) {
            observer.rejected(refusal.reason());
        }
        settlement.fail(request, refusal.code(), refusal.message(), refusal.hint());
    }

    private @Nullable ModelQueue proceed(Request request) {
        try {
            return switch (request.kind()) {
                case ECHO -> echo(request);
                case STATUS -> answerText(request, reports.apply(RequestKind.STATUS));
                case METRICS -> report(request);
                case LOAD -> load(request);
                case IMPORT -> importModel(request);
                case PREDICT, PROBA, CLASS, PREPROCESS, FULL -> resolve(request);
            };
        } catch (RuntimeException | Error e) {
            settlement.fail(request, e);
        }
        return null;
    }

    private @Nullable ModelQueue echo(Request request) {
        request.completion().begin(AnswerWriter.valueKind(RequestKind.ECHO), 1, 0, 0);
        request.completion().bytes(request.payload());
        settlement.complete(request);
        return null;
    }

    private @Nullable ModelQueue answerText(Request request, String text) {
        request.completion().begin(AnswerWriter.valueKind(request.kind()), 1, 0, 0);
        request.completion().text(text.getBytes(StandardCharsets.UTF_8));
        settlement.complete(request);
        return null;
    }

    private @Nullable ModelQueue report(Request request) {
        reporter.execute(() -> {
            try {
                answerText(request, reports.apply(request.kind()));
            } catch (RuntimeException | Error e) {
                settlement.fail(request, e);
            }
        });
        return null;
    }

    private @Nullable ModelQueue resolve(Request request) {
        ServedModel model = models.acquire(request.modelKey());
        if (model != null) {
            return enqueue(request, model);
        }
        ModelReference reference = request.reference();
        if (reference == null) {
            throw new ContractException(
                    ErrorCode.NEED_MODEL, "model is not resident: modelKey=" + Long.toHexString(request.modelKey()));
        }
        models.load(request.modelKey(), reference, new Models.Waiter() {
            @Override
            public void loaded(ServedModel loadedModel) {
                resume(request, loadedModel);
            }

            @Override
            public void failed(ContractException failure) {
                settlement.fail(request, failure);
            }
        });
        return null;
    }

    private void resume(Request request, ServedModel model) {
        ModelQueue queue;
        try {
            queue = enqueue(request, model);
        } catch (RuntimeException | Error e) {
            settlement.fail(request, e);
            return;
        }
        if (queue != null) {
            schedule(queue);
        }
    }

    /** Binds a request to the one model version that will answer it; takes over the caller's reference. */
    private @Nullable ModelQueue enqueue(Request request, ServedModel model) {
        // From here on the settlement gives the reference back.
        request.model = model;
        model.check(request.kind());
        RowSchema schema = request.schema();
        if (schema == null) {
            throw new ContractException(ErrorCode.NEED_DESCRIPTOR, "descriptor of the rows is not known");
        }
        request.transform = model.bind(schema);
        ModelQueue queue = model.queue(request);
        if (!queue.line().isBusy() && offer(queue, request)) {
            return queue;
        }
        refuse(request, queueFull(queue, request), this::offerAgain);
        return null;
    }

    private @Nullable Refusal offerAgain(Request request, long now) {
        ModelQueue queue = requireNonNull(request.model).queue(request);
        if (!offer(queue, request)) {
            return queueFull(queue, request);
        }
        schedule(queue);
        return null;
    }

    private boolean offer(ModelQueue queue, Request request) {
        int rowCount = request.rowCount();
        settlement.pend(rowCount);
        boolean taken = queue.offer(request);
        if (!taken) {
            settlement.pend(-rowCount);
        }
        return taken;
    }

    private Refusal queueFull(ModelQueue queue, Request request) {
        return new Refusal(
                ErrorCode.QUEUE_FULL,
                Observer.reason(ErrorCode.QUEUE_FULL),
                "queue of the model is full: model=" + queue.model().name() + ", waitingRows=" + queue.waitingRows()
                        + ", requestRows=" + request.rowCount() + ", limitRows=" + queue.rowLimit(),
                Settlement.hint(ErrorCode.QUEUE_FULL),
                config.queueFullWaits() ? queue.line() : null);
    }

    private @Nullable ModelQueue load(Request request) {
        ModelReference reference = request.reference();
        if (reference == null) {
            throw new ContractException(ErrorCode.INVALID_ENVELOPE, "load must name a model");
        }
        models.load(request.modelKey(), reference, new Models.Waiter() {
            @Override
            public void loaded(ServedModel model) {
                request.model = model;
                try {
                    Completion completion = request.completion();
                    completion.begin(AnswerWriter.valueKind(RequestKind.LOAD), 1, model.key(), model.modelId());
                    completion.text(model.name().getBytes(StandardCharsets.UTF_8));
                } catch (RuntimeException | Error e) {
                    settlement.fail(request, e);
                    return;
                }
                settlement.complete(request);
            }

            @Override
            public void failed(ContractException failure) {
                settlement.fail(request, failure);
            }
        });
        return null;
    }

    private @Nullable ModelQueue importModel(Request request) {
        ByteBuffer payload = request.payload();
        byte[] document = new byte[payload.remaining()];
        payload.get(document);
        importer.take(document, request::isWanted, request.deadlineNanos(), new Importer.Waiter() {
            @Override
            public void imported(ImportAnswer answer) {
                try {
                    answerText(request, new String(answer.toJson(), StandardCharsets.UTF_8));
                } catch (RuntimeException | Error e) {
                    settlement.fail(request, e);
                }
            }

            @Override
            public void failed(ContractException failure) {
                settlement.fail(request, failure);
            }
        });
        return null;
    }

    private void schedule(ModelQueue queue) {
        if (queue.shouldSchedule()) {
            runQueue.add(queue);
        }
    }

    private void wakeWaiting(ModelQueue queue) {
        if (queue.line().isBusy()) {
            waitingRoom.wake();
        }
    }

    private void work() {
        Batch batch = new Batch();
        BatchRunner runner = new BatchRunner(settlement, observer, clock);
        try {
            ModelQueue queue = runQueue.take(batch);
            while (queue != null) {
                long start = clock.getAsLong();
                runner.run(batch, queue.model(), queue.model().blockRows(config.batchRowsMax()));
                runQueue.done(queue, batch, clock.getAsLong() - start);
                wakeWaiting(queue);
                queue = runQueue.take(batch);
            }
        } catch (InterruptedException e) {
            log.warn("worker is interrupted");
        } catch (RuntimeException | Error e) {
            // What requests and scorers do wrong ends with them, so this is the gateway's own.
            log.error("worker failed", e);
            failure.complete(e);
        }
    }

    /** Requests of one connector thread that arrive together; call {@link #run} after each group. */
    public final class Burst {
        private final Batch batch = new Batch();
        private final BatchRunner runner = new BatchRunner(settlement, observer, clock);
        private final ArrayList<ModelQueue> touched = new ArrayList<>();

        private Burst() {}

        /** Takes a request; its completion may be called before this returns. */
        public void submit(Request request) {
            ModelQueue queue = enter(request);
            if (queue != null && !touched.contains(queue)) {
                touched.add(queue);
            }
        }

        /** Runs what is short, hands the rest to the workers. What it throws ends the pipeline: see {@link #failure}. */
        public void run() {
            try {
                long spentNanos = run(false, 0);
                run(true, spentNanos);
                touched.clear();
            } catch (RuntimeException | Error e) {
                failure.complete(e);
                throw e;
            }
        }

        /** Those of large jobs, or the others; tells the time spent so far. */
        private long run(boolean bulk, long spentBefore) {
            long spentNanos = spentBefore;
            for (int index = 0; index < touched.size(); index++) {
                ModelQueue queue = touched.get(index);
                if (queue.isBulk() != bulk) {
                    continue;
                }
                int blockRows = queue.model().blockRows(config.batchRowsMax());
                int rows = queue.nextRows(blockRows);
                while (rows > 0 && fits(queue, rows, spentNanos)) {
                    long start = clock.getAsLong();
                    // What came meanwhile may be too much for this thread.
                    queue.take(batch, rows);
                    runner.run(batch, queue.model(), blockRows);
                    spentNanos += clock.getAsLong() - start;
                    rows = queue.nextRows(blockRows);
                }
                schedule(queue);
                wakeWaiting(queue);
            }
            return spentNanos;
        }

        private boolean fits(ModelQueue queue, int rows, long spentNanos) {
            if (queue.model().running().get() > 0
                    && queue.windowEndNanos(config.mergeWindowNanos()) - clock.getAsLong() > 0) {
                return false;
            }
            long expectedNanos = queue.model().cost().expectedNanos(rows);
            return expectedNanos <= config.inlineNanos() - spentNanos;
        }
    }

    /** Refuses everything new, and what waits for a limit or for room; what came in before is still answered. */
    public void drain() {
        admission.drain();
        waitingRoom.drain();
    }

    /**
     * Waits until every request ended.
     *
     * @return whether that happened in time
     */
    public boolean awaitIdle(long timeoutNanos) {
        long end = System.nanoTime() + timeoutNanos;
        while (settlement.inFlight() > 0) {
            if (System.nanoTime() - end > 0) {
                return false;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
        return true;
    }

    /** Ends the workers after the batches that wait; call {@link #drain} and {@link #awaitIdle} first. */
    @Override
    public void close() {
        admission.drain();
        waitingRoom.close();
        reporter.close();
        runQueue.close();
        for (Thread worker : workers) {
            try {
                worker.join(TimeUnit.SECONDS.toMillis(10));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}
