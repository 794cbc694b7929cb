package io.millrace.gateway.core;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Task;
import io.millrace.contract.layout.RequestKind;
import io.millrace.contract.layout.ValueKind;

/** Turns a scorer's outputs into what a kind of request means. Threads: one. */
final class AnswerWriter {
    private static final byte[] NO_LABEL = new byte[0];

    private double[] probabilities = new double[2];

    /** What a row of a kind holds. */
    static ValueKind valueKind(RequestKind kind) {
        return switch (kind) {
            case PREDICT -> ValueKind.SCALAR;
            case PROBA -> ValueKind.VECTOR;
            case CLASS -> ValueKind.TEXT;
            case FULL -> ValueKind.FULL;
            case PREPROCESS -> ValueKind.VECTOR32;
            case LOAD, STATUS, IMPORT, METRICS -> ValueKind.TEXT;
            case ECHO -> ValueKind.BYTES;
        };
    }

    /** Starts the answer of a request. */
    static void begin(Request request, ServedModel model) {
        request.completion().begin(valueKind(request.kind()), request.rowCount(), model.key(), model.modelId());
    }

    /** Writes the next rows of a request, which are the batch's rows from {@link Request#firstRow} on. */
    void write(Request request, int rowCount, ServedModel model, Batch batch) {
        Completion completion = request.completion();
        for (int row = request.firstRow; row < request.firstRow + rowCount; row++) {
            ContractException error = batch.position(row) < 0 ? batch.error(row) : null;
            if (error != null) {
                completion.rowFailed(error.code(), String.valueOf(error.getMessage()));
            } else {
                writeRow(completion, request.kind(), model, batch.outputs(), batch.position(row));
            }
        }
    }

    private void writeRow(Completion completion, RequestKind kind, ServedModel model, float[] outputs, int position) {
        int outputCount = model.scorer().outputs();
        int first = position * outputCount;
        if (Float.isNaN(outputs[first])) {
            completion.rowFailed(
                    ErrorCode.INVALID_VALUE,
                    "model has no answer for the row, as for a missing value that it does not take: model="
                            + model.name());
            return;
        }
        switch (kind) {
            case PREDICT -> completion.scalar(prediction(model, outputs, first));
            case CLASS -> completion.text(model.label(classIndex(model, outputs, first)));
            case PROBA -> completion.vector(probabilities(model, outputs, first), model.classCount());
            case FULL -> {
                boolean regression = model.task() == Task.REGRESSION;
                completion.full(
                        prediction(model, outputs, first),
                        regression ? NO_LABEL : model.label(classIndex(model, outputs, first)),
                        regression ? probabilities : probabilities(model, outputs, first),
                        regression ? 0 : model.classCount());
            }
            default -> throw new AssertionError(kind);
        }
    }

    /** Regression: the value; two classes: probability of the second; more: index of the likeliest. */
    private static double prediction(ServedModel model, float[] outputs, int first) {
        boolean manyClasses = model.task() == Task.CLASSIFICATION && model.classCount() > 2;
        return manyClasses ? classIndex(model, outputs, first) : outputs[first];
    }

    private static int classIndex(ServedModel model, float[] outputs, int first) {
        if (model.classCount() == 2) {
            return outputs[first] >= 0.5f ? 1 : 0;
        }
        int best = 0;
        for (int index = 1; index < model.classCount(); index++) {
            if (outputs[first + index] > outputs[first + best]) {
                best = index;
            }
        }
        return best;
    }

    private double[] probabilities(ServedModel model, float[] outputs, int first) {
        int count = model.classCount();
        if (probabilities.length < count) {
            probabilities = new double[count];
        }
        if (count == 2) {
            probabilities[1] = outputs[first];
            probabilities[0] = 1 - probabilities[1];
        } else {
            for (int index = 0; index < count; index++) {
                probabilities[index] = outputs[first + index];
            }
        }
        return probabilities;
    }
}
