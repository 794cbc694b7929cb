package io.millrace.gateway.core;

import static java.util.Objects.requireNonNull;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.RowReader;
import io.millrace.contract.layout.RequestKind;
import io.millrace.engine.Scorer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * One batch: every request of it ends here, answered or failed, whatever happens.
 *
 * A row that cannot be transformed gets an error of its own. A scorer that fails on the whole matrix is made anew, where
 * its native state may be broken, and asked again row by row, so that one poisonous row costs only itself. Bytes that break the envelope fail their request, since nothing
 * tells where its next row begins.
 */
/** Transforms, scores and answers batches; one per executing thread. Threads: one. */
final class BatchRunner {
    private static final Logger log = LoggerFactory.getLogger(BatchRunner.class);

    private final Settlement settlement;
    private final Observer observer;
    private final LongSupplier clock;
    private final AnswerWriter answers = new AnswerWriter();
    private float[] singleOutput = new float[1];

    BatchRunner(Settlement settlement, Observer observer, LongSupplier clock) {
        this.settlement = settlement;
        this.observer = observer;
        this.clock = clock;
    }

    /**
     * Runs a batch of one model and clears it; never throws for what a request or a scorer did.
     *
     * @param blockRows rows to score at a time; only a lone request may have more
     */
    void run(Batch batch, ServedModel model, int blockRows) {
        settlement.pend(-batch.rowCount());
        try {
            long start = clock.getAsLong();
            batch.times().begin(start, batch.rowCount());
            dropLate(batch, start);
            if (batch.requestCount() == 1 && batch.rowCount() > blockRows) {
                runBlocks(batch, model, blockRows);
            } else if (!batch.isEmpty()) {
                runWhole(batch, model, start);
            }
        } catch (RuntimeException | Error e) {
            log.error("batch failed: model={}, requests={}", model.name(), batch.requestCount(), e);
            failAll(batch, e);
        } finally {
            batch.clear();
        }
    }

    private void failAll(Batch batch, Throwable failure) {
        while (!batch.isEmpty()) {
            settlement.fail(batch.removeFirst(), ErrorCode.INTERNAL, "batch failed: reason=" + failure);
        }
    }

    private void dropLate(Batch batch, long now) {
        for (int index = 0; index < batch.requestCount(); ) {
            Request request = batch.request(index);
            observer.queued(now - request.submittedNanos());
            if (isLate(request, now)) {
                batch.remove(index);
                failLate(request, now);
            } else {
                index++;
            }
        }
    }

    private static boolean isLate(Request request, long now) {
        return !request.isWanted() || now - request.deadlineNanos() > 0;
    }

    private void failLate(Request request, long now) {
        if (request.isWanted()) {
            settlement.failDeadline(request, now);
        } else {
            settlement.fail(request, ErrorCode.CANCELLED, "request is cancelled");
        }
    }

    private void runWhole(Batch batch, ServedModel model, long start) {
        batch.prepare(batch.rowCount(), model.scorer());
        transform(batch, model);
        score(batch, model, start);
        while (!batch.isEmpty()) {
            Request request = batch.removeFirst();
            try {
                AnswerWriter.begin(request, model);
                answers.write(request, request.rowCount(), model, batch);
            } catch (RuntimeException | Error e) {
                settlement.fail(request, e);
                continue;
            }
            settlement.complete(request);
        }
    }

    /** A request that is larger than a block: its rows go through the same small matrix, one block after the other. */
    private void runBlocks(Batch batch, ServedModel model, int blockRows) {
        Request request = batch.removeFirst();
        try {
            AnswerWriter.begin(request, model);
            for (int rowsLeft = request.rowCount(); rowsLeft > 0; rowsLeft -= blockRows) {
                long start = clock.getAsLong();
                if (isLate(request, start)) {
                    failLate(request, start);
                    return;
                }
                int rowCount = Math.min(rowsLeft, blockRows);
                batch.prepare(rowCount, model.scorer());
                request.firstRow = 0;
                transform(request, rowCount, model, batch);
                if (request.kind() != RequestKind.PREPROCESS) {
                    score(batch, model, start);
                    answers.write(request, rowCount, model, batch);
                }
            }
        } catch (RuntimeException | Error e) {
            settlement.fail(request, e);
            return;
        }
        settlement.complete(request);
    }

    private void transform(Batch batch, ServedModel model) {
        for (int index = 0; index < batch.requestCount(); ) {
            Request request = batch.request(index);
            request.firstRow = batch.nextRow();
            boolean preprocess = request.kind() == RequestKind.PREPROCESS;
            try {
                if (preprocess) {
                    AnswerWriter.begin(request, model);
                }
                transform(request, request.rowCount(), model, batch);
            } catch (RuntimeException | Error e) {
                batch.rewind(request.firstRow);
                batch.remove(index);
                settlement.fail(request, e);
                continue;
            }
            if (preprocess) {
                batch.rewind(request.firstRow);
                batch.remove(index);
                settlement.complete(request);
            } else {
                index++;
            }
        }
    }

    /** Puts the next rows of a request into the matrix; where that is all it wants, also into its answer. */
    private static void transform(Request request, int rowCount, ServedModel model, Batch batch) {
        RowTransform transform = requireNonNull(request.transform);
        boolean preprocess = request.kind() == RequestKind.PREPROCESS;
        int width = model.scorer().width();
        for (int row = 0; row < rowCount; row++) {
            RowReader reader = request.nextRow();
            int offset = batch.positionCount() * width;
            ContractException error = apply(transform, reader, batch);
            if (error != null) {
                batch.refuse(error);
            } else {
                batch.accept();
            }
            if (preprocess) {
                writeFeatures(request.completion(), error, batch.features(), offset, width);
            }
        }
    }

    private static @Nullable ContractException apply(RowTransform transform, RowReader reader, Batch batch) {
        try {
            transform.apply(reader, batch);
            return null;
        } catch (ContractException e) {
            return e;
        }
    }

    private static void writeFeatures(
            Completion completion, @Nullable ContractException error, float[] features, int offset, int width) {
        if (error == null) {
            completion.vector32(features, offset, width);
        } else {
            completion.rowFailed(error.code(), String.valueOf(error.getMessage()));
        }
    }

    private void score(Batch batch, ServedModel model, long start) {
        if (batch.positionCount() == 0) {
            return;
        }
        long transformed = clock.getAsLong();
        Scorer scorer = model.scorer();
        try {
            batch.score(scorer);
        } catch (RuntimeException e) {
            boolean renewed = scorer.renew();
            if (renewed) {
                observer.renewed();
            }
            log.warn(
                    "scorer failed on a batch: model={}, rows={}, renewed={}, reason={}",
                    model.name(),
                    batch.positionCount(),
                    renewed,
                    e.toString());
            scoreSingly(batch, scorer);
        }
        long scored = clock.getAsLong();
        batch.times().scored(transformed - start, scored - transformed);
        observer.executed(batch.positionCount(), transformed - start, scored - transformed);
        model.cost().record(batch.positionCount(), scored - start);
    }

    private void scoreSingly(Batch batch, Scorer scorer) {
        int outputCount = scorer.outputs();
        if (singleOutput.length < outputCount) {
            singleOutput = new float[outputCount];
        }
        for (int position = 0; position < batch.positionCount(); position++) {
            try {
                batch.score(scorer, position, singleOutput);
                System.arraycopy(singleOutput, 0, batch.outputs(), position * outputCount, outputCount);
            } catch (RuntimeException e) {
                batch.refusePosition(
                        position,
                        new ContractException(ErrorCode.SCORER_FAILED, "scorer failed on a row: reason=" + e, e));
            }
        }
    }
}
