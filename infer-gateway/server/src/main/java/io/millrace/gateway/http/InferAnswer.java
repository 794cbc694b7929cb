package io.millrace.gateway.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.gateway.http.InferBody.Output;
import io.millrace.gateway.http.InferBody.WantedOutput;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The answer to an infer request: collected row by row, then written as JSON, binary tensors behind it. Threads: one. */
final class InferAnswer {
    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamWriteFeature.USE_FAST_DOUBLE_WRITER)
            .build();

    /** Of the document without its values. */
    private static final int DOCUMENT_BYTES = 1_024;

    /** Of a number in JSON, at most, with its comma. */
    private static final int NUMBER_BYTES = 25;

    private static final double[] NO_NUMBERS = new double[0];
    private static final byte[] NO_LABEL = new byte[0];

    private final InferBody body;
    private final ModelReference model;
    private final Capacity.Ticket ticket;
    private final int rowCount;
    private double[] predictions = NO_NUMBERS;
    private double[] probabilities = NO_NUMBERS;
    private int classCount;
    private byte[] @Nullable [] labels = new byte[0][];
    private long labelBytes;
    private boolean regression;
    private final BitSet failed = new BitSet();
    private @Nullable ContractException firstFailure;
    private int row;

    /** The bytes, the first {@code jsonLength} of which are JSON. */
    record Encoded(ByteBuffer bytes, int jsonLength) {}

    InferAnswer(InferBody body, ModelReference model, Capacity.Ticket ticket) {
        this.body = body;
        this.model = model;
        this.ticket = ticket;
        this.rowCount = body.rows().rowCount();
    }

    /** Starts again before the first row. */
    void begin() {
        row = 0;
        failed.clear();
        firstFailure = null;
        labelBytes = 0;
    }

    /** The next row's prediction, unless {@link #nextRow} went on. */
    void prediction(double value) {
        if (predictions.length == 0) {
            ticket.take((long) rowCount * Double.BYTES);
            predictions = new double[rowCount];
        }
        predictions[row] = value;
    }

    void probabilities(double[] values, int count) {
        if (probabilities.length == 0 && count > 0) {
            ticket.take((long) rowCount * count * Double.BYTES);
            classCount = count;
            probabilities = new double[rowCount * count];
        }
        System.arraycopy(values, 0, probabilities, row * classCount, count);
    }

    /** The model of the row has no classes, though some were asked for. */
    void withoutClasses() {
        regression = true;
    }

    void label(byte[] value) {
        if (labels.length == 0) {
            ticket.take((long) rowCount * Long.BYTES);
            labels = new byte[rowCount][];
        }
        labels[row] = value;
        labelBytes += value.length;
    }

    void rowFailed(ErrorCode code, String message) {
        if (firstFailure == null) {
            firstFailure = new ContractException(code, message + ", row=" + row);
        }
        failed.set(row);
    }

    void nextRow() {
        row++;
    }

    /**
     * The finished answer.
     *
     * @throws ContractException the first row's error, unless the caller wants nulls; {@link ErrorCode#WRONG_TASK} if the
     *     model has no such output
     */
    Encoded encode() {
        if (firstFailure != null && !body.nullOnError()) {
            throw firstFailure;
        }
        checkOutputs();
        long values = (long) rowCount * (1 + classCount);
        long estimate = DOCUMENT_BYTES + values * NUMBER_BYTES + labelBytes + 6L * rowCount;
        ticket.take(estimate);
        Buffer out = new Buffer((int) Math.min(estimate, DOCUMENT_BYTES + 8L * values));
        try {
            writeJson(out);
            int jsonLength = out.size();
            for (WantedOutput wanted : body.outputs()) {
                if (wanted.binary()) {
                    writeBinary(out, wanted.output());
                }
            }
            return new Encoded(out.bytes(), jsonLength);
        } catch (IOException notUnicode) {
            // Memory does not fail, so it is a text with half of a surrogate pair.
            throw new ContractException(ErrorCode.INVALID_VALUE, "id must be Unicode", notUnicode);
        }
    }

    private void checkOutputs() {
        for (WantedOutput wanted : body.outputs()) {
            if (regression && wanted.output() != Output.PREDICTION) {
                throw new ContractException(
                        ErrorCode.WRONG_TASK,
                        "output must fit the task of the model: output=" + name(wanted.output())
                                + ", task=regression, model=" + model.project() + "/" + model.modelId());
            }
        }
    }

    private void writeJson(Buffer buffer) throws IOException {
        try (JsonGenerator out = JSON.createGenerator(buffer)) {
            out.writeStartObject();
            out.writeStringField("model_name", model.project());
            out.writeStringField("model_version", Long.toString(model.modelId()));
            if (body.id() != null) {
                out.writeStringField("id", body.id());
            }
            if (firstFailure != null) {
                out.writeObjectFieldStart("parameters");
                out.writeNumberField("failed_rows", failed.cardinality());
                out.writeStringField("first_error", firstFailure.getMessage());
                out.writeEndObject();
            }
            out.writeArrayFieldStart("outputs");
            for (WantedOutput wanted : body.outputs()) {
                writeOutput(out, wanted);
            }
            out.writeEndArray();
            out.writeEndObject();
        }
    }

    private void writeOutput(JsonGenerator out, WantedOutput wanted) throws IOException {
        boolean vector = wanted.output() == Output.PROBABILITIES;
        out.writeStartObject();
        out.writeStringField("name", name(wanted.output()));
        out.writeStringField("datatype", wanted.output() == Output.LABEL ? "BYTES" : "FP64");
        out.writeArrayFieldStart("shape");
        out.writeNumber(rowCount);
        if (vector) {
            out.writeNumber(classCount);
        }
        out.writeEndArray();
        if (wanted.binary()) {
            out.writeObjectFieldStart("parameters");
            out.writeNumberField("binary_data_size", binaryLength(wanted.output()));
            out.writeEndObject();
        } else {
            out.writeArrayFieldStart("data");
            switch (wanted.output()) {
                case PREDICTION -> writeNumbers(out, predictions, 1);
                case PROBABILITIES -> writeNumbers(out, probabilities, classCount);
                case LABEL -> writeLabels(out);
            }
            out.writeEndArray();
        }
        out.writeEndObject();
    }

    private void writeNumbers(JsonGenerator out, double[] values, int width) throws IOException {
        for (int at = 0; at < rowCount; at++) {
            for (int index = at * width; index < (at + 1) * width; index++) {
                // JSON has no NaN.
                if (failed.get(at) || !Double.isFinite(values[index])) {
                    out.writeNull();
                } else {
                    out.writeNumber(values[index]);
                }
            }
        }
    }

    private void writeLabels(JsonGenerator out) throws IOException {
        for (int at = 0; at < rowCount; at++) {
            byte[] label = label(at);
            if (label == null) {
                out.writeNull();
            } else {
                out.writeUTF8String(label, 0, label.length);
            }
        }
    }

    /** Null where the row failed. */
    private byte @Nullable [] label(int at) {
        return failed.get(at) ? null : labels[at];
    }

    private long binaryLength(Output output) {
        return switch (output) {
            case PREDICTION -> (long) rowCount * Double.BYTES;
            case PROBABILITIES -> (long) rowCount * classCount * Double.BYTES;
            case LABEL -> (long) rowCount * Integer.BYTES + labelBytes;
        };
    }

    private void writeBinary(Buffer out, Output output) {
        ByteBuffer tensor = ByteBuffer.allocate((int) binaryLength(output)).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < rowCount; at++) {
            switch (output) {
                case PREDICTION -> tensor.putDouble(failed.get(at) ? Double.NaN : predictions[at]);
                case PROBABILITIES -> {
                    for (int index = at * classCount; index < (at + 1) * classCount; index++) {
                        tensor.putDouble(failed.get(at) ? Double.NaN : probabilities[index]);
                    }
                }
                case LABEL -> {
                    byte[] label = Objects.requireNonNullElse(label(at), NO_LABEL);
                    tensor.putInt(label.length).put(label);
                }
            }
        }
        out.writeBytes(tensor.array());
    }

    private static String name(Output output) {
        return output.name().toLowerCase(Locale.ROOT);
    }

    /** Bytes that are not copied once more at the end. */
    private static final class Buffer extends ByteArrayOutputStream {
        Buffer(int capacity) {
            super(capacity);
        }

        ByteBuffer bytes() {
            return ByteBuffer.wrap(buf, 0, count);
        }
    }
}
