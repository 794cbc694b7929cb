package io.millrace.gateway.core;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.layout.RequestKind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
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
    private final Observer observer;
    private final LongSupplier clock;
    private final Supplier<String> status;
    private final Admission admission = new Admission();
    private final RunQueue runQueue = new RunQueue();
    private final Settlement settlement;
    private final List<Thread> workers = new ArrayList<>();
    private final CompletableFuture<Throwable> failure = new CompletableFuture<>();

    /**
     * Starts the workers.
     *
     * @param status text of the answer to {@link RequestKind#STATUS}
     * @param clock nanoseconds of the deadlines' clock
     */
    public Pipeline(
            PipelineConfig config, Models models, Observer observer, Supplier<String> status, LongSupplier clock) {
        this.config = config;
        this.models = models;
        this.observer = observer;
        this.status = status;
        this.clock = clock;
        this.settlement = new Settlement(observer, clock);
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

    /** The queue that now holds the request; null when it ended or waits for its model. */
    private @Nullable ModelQueue enter(Request request) {
        settlement.open();
        try {
            admission.admit(request);
        } catch (ContractException e) {
            observer.rejected(e.code());
            settlement.fail(request, e);
            return null;
        }
        try {
            return switch (request.kind()) {
                case ECHO -> echo(request);
                case STATUS -> answerText(request, status.get());
                case LOAD -> load(request);
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
        schedule(queue);
    }

    /** Binds a request to the one model version that will answer it; takes over the caller's reference. */
    private ModelQueue enqueue(Request request, ServedModel model) {
        // From here on the settlement gives the reference back.
        request.model = model;
        model.check(request.kind());
        RowSchema schema = request.schema();
        if (schema == null) {
            throw new ContractException(ErrorCode.NEED_DESCRIPTOR, "descriptor of the rows is not known");
        }
        request.transform = model.bind(schema);
        int rowCount = request.rowCount();
        settlement.pend(rowCount);
        if (!model.queue().offer(request)) {
            settlement.pend(-rowCount);
            ContractException full = new ContractException(
                    ErrorCode.QUEUE_FULL,
                    "queue of the model is full: model=" + model.name() + ", waitingRows="
                            + model.queue().waitingRows() + ", requestRows=" + request.rowCount() + ", limitRows="
                            + model.queue().rowLimit());
            observer.rejected(full.code());
            throw full;
        }
        return model.queue();
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

    private void schedule(ModelQueue queue) {
        if (queue.shouldSchedule()) {
            runQueue.add(queue);
        }
    }

    private void work() {
        Batch batch = new Batch();
        BatchRunner runner = new BatchRunner(settlement, observer, clock);
        try {
            ModelQueue queue = runQueue.take();
            while (queue != null) {
                int blockRows = queue.model().blockRows(config.batchRowsMax());
                queue.take(batch, blockRows);
                // Before the work, so that another worker may take what is left.
                schedule(queue);
                runner.run(batch, queue.model(), blockRows);
                queue = runQueue.take();
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

        /** Runs what is short, hands the rest to the workers. */
        public void run() {
            long spentNanos = 0;
            for (int index = 0; index < touched.size(); index++) {
                ModelQueue queue = touched.get(index);
                int blockRows = queue.model().blockRows(config.batchRowsMax());
                int rows = queue.nextRows(blockRows);
                while (rows > 0 && fits(queue, rows, spentNanos)) {
                    long start = clock.getAsLong();
                    queue.take(batch, blockRows);
                    runner.run(batch, queue.model(), blockRows);
                    spentNanos += clock.getAsLong() - start;
                    rows = queue.nextRows(blockRows);
                }
                schedule(queue);
            }
            touched.clear();
        }

        private boolean fits(ModelQueue queue, int rows, long spentNanos) {
            long expectedNanos = queue.model().cost().expectedNanos(rows);
            return expectedNanos <= config.inlineNanos() - spentNanos;
        }
    }

    /** Refuses everything new; what came in before is still answered. */
    public void drain() {
        admission.drain();
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
