package io.millrace.gateway.core;

import static java.util.Objects.requireNonNull;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.RowReader;
import io.millrace.contract.fitted.BoundTransform;
import io.millrace.contract.layout.RequestKind;
import io.millrace.contract.layout.ValueKind;
import io.millrace.engine.Scorer;
import java.util.Arrays;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * One batch: every request of it ends here, answered or failed, whatever happens.
 *
 * A row that cannot be transformed gets an error of its own. A scorer that fails on the whole matrix is asked again row
 * by row, so that one poisonous row costs only itself. Bytes that break the envelope fail their request, since nothing
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

    /** Runs a batch of one model and clears it; never throws for what a request or a scorer did. */
    void run(Batch batch, ServedModel model) {
        int taken = 0;
        settlement.pend(-batch.rowCount());
        try {
            long start = clock.getAsLong();
            dropLate(batch, start);
            if (batch.isEmpty()) {
                return;
            }
            batch.prepare(model.scorer().width(), model.scorer().outputs());
            transform(batch, model);
            long transformed = clock.getAsLong();
            if (batch.positionCount() > 0) {
                score(batch, model.scorer());
                long scored = clock.getAsLong();
                observer.executed(batch.positionCount(), transformed - start, scored - transformed);
                model.cost().record(batch.positionCount(), scored - start);
            }
            while (taken < batch.requestCount()) {
                Request request = batch.request(taken++);
                answer(request, model, batch);
            }
        } catch (RuntimeException | Error e) {
            log.error("batch failed: model={}, requests={}", model.name(), batch.requestCount(), e);
            while (taken < batch.requestCount()) {
                settlement.fail(batch.request(taken++), ErrorCode.INTERNAL, "batch failed: reason=" + e);
            }
        } finally {
            batch.clear();
        }
    }

    private void dropLate(Batch batch, long now) {
        for (int index = 0; index < batch.requestCount(); ) {
            Request request = batch.request(index);
            observer.queued(now - request.acceptedNanos());
            if (!request.isWanted()) {
                batch.remove(index);
                settlement.fail(request, ErrorCode.CANCELLED, "request is cancelled");
            } else if (now - request.deadlineNanos() > 0) {
                batch.remove(index);
                settlement.failDeadline(request, now);
            } else {
                index++;
            }
        }
    }

    private void transform(Batch batch, ServedModel model) {
        for (int index = 0; index < batch.requestCount(); ) {
            Request request = batch.request(index);
            request.firstRow = batch.nextRow();
            boolean answered;
            try {
                answered = transform(request, model, batch);
            } catch (RuntimeException | Error e) {
                batch.rewind(request.firstRow);
                batch.remove(index);
                settlement.fail(request, e);
                continue;
            }
            if (answered) {
                batch.rewind(request.firstRow);
                batch.remove(index);
                settlement.complete(request);
            } else {
                index++;
            }
        }
    }

    /** Puts the rows of a request into the matrix; true when that was all it wanted, and its answer is written. */
    private static boolean transform(Request request, ServedModel model, Batch batch) {
        BoundTransform transform = requireNonNull(request.transform);
        boolean preprocess = request.kind() == RequestKind.PREPROCESS;
        int width = model.scorer().width();
        if (preprocess) {
            request.completion().begin(ValueKind.VECTOR32, request.rowCount(), model.key(), model.modelId());
        }
        for (int row = 0; row < request.rowCount(); row++) {
            RowReader reader = request.nextRow();
            int offset = batch.positionCount() * width;
            ContractException error = apply(transform, reader, batch.features(), offset);
            if (error != null) {
                batch.refuse(error);
            } else {
                batch.accept();
            }
            if (preprocess) {
                writeFeatures(request.completion(), error, batch.features(), offset, width);
            }
        }
        return preprocess;
    }

    private static @Nullable ContractException apply(
            BoundTransform transform, RowReader reader, float[] features, int offset) {
        try {
            transform.apply(reader, features, offset);
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

    private void score(Batch batch, Scorer scorer) {
        try {
            scorer.score(batch.features(), batch.positionCount(), batch.outputs());
        } catch (RuntimeException e) {
            log.warn("scorer failed on a batch: rows={}, reason={}", batch.positionCount(), e.toString());
            scoreSingly(batch, scorer);
        }
    }

    private void scoreSingly(Batch batch, Scorer scorer) {
        int width = scorer.width();
        int outputCount = scorer.outputs();
        if (singleOutput.length < outputCount) {
            singleOutput = new float[outputCount];
        }
        for (int position = 0; position < batch.positionCount(); position++) {
            float[] features = Arrays.copyOfRange(batch.features(), position * width, (position + 1) * width);
            try {
                scorer.score(features, 1, singleOutput);
                System.arraycopy(singleOutput, 0, batch.outputs(), position * outputCount, outputCount);
            } catch (RuntimeException e) {
                batch.refusePosition(
                        position,
                        new ContractException(ErrorCode.SCORER_FAILED, "scorer failed on a row: reason=" + e, e));
            }
        }
    }

    private void answer(Request request, ServedModel model, Batch batch) {
        try {
            answers.write(request, model, batch);
        } catch (RuntimeException | Error e) {
            settlement.fail(request, e);
            return;
        }
        settlement.complete(request);
    }
}
