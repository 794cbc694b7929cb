package io.millrace.gateway.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.millrace.contract.Column;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import io.millrace.gateway.http.InferBody.Output;
import io.millrace.gateway.http.InferBody.WantedOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/*
 * The body is read once, token by token, and values go from their digits straight into the arrays that the rows are read
 * from. Only where "data" comes before "datatype" or "shape" it is skipped first and read when those are known.
 *
 * Nothing is allocated by what a shape claims: a value has at least one byte of JSON, or its exact length in a binary
 * tensor, so a shape with more values than the body has bytes is refused before.
 */
/** Reads the body of an infer request. Threads: one; for one body. */
final class InferParser {
    private static final int NESTING_MAX = 16;

    /** What a column costs beside its values. */
    private static final int COLUMN_BYTES = 64;

    /** NaN and Infinity are not JSON, but what Python and PostgreSQL write. */
    static final JsonFactory JSON = JsonFactory.builder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
            .disable(JsonFactory.Feature.CHARSET_DETECTION)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(NESTING_MAX)
                    .maxStringLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private final byte[] body;
    private final int bodyLength;
    private final int jsonLength;
    private final int rowsMax;
    private final Capacity.Ticket memory;

    private @Nullable String id;
    private long timeoutMillis;
    private boolean nullOnError;
    private boolean binaryOutputs;
    private final List<Requested> requested = new ArrayList<>();
    private @Nullable List<Input> inputs;

    /** An output as asked for; {@code binary} null when it does not say. */
    private record Requested(Output output, @Nullable Boolean binary) {}

    private record Input(
            String name, Datatype datatype, int rows, int columns, boolean isMatrix, TensorValues values) {}

    private InferParser(byte[] body, int bodyLength, int jsonLength, int rowsMax, Capacity.Ticket memory) {
        this.body = body;
        this.bodyLength = bodyLength;
        this.jsonLength = jsonLength;
        this.rowsMax = rowsMax;
        this.memory = memory;
    }

    /**
     * Reads a body.
     *
     * @param bodyLength bytes of it that count
     * @param jsonLength bytes of JSON at its beginning; binary tensors follow
     * @throws ContractException naming what is wrong; never a value
     */
    static InferBody parse(byte[] body, int bodyLength, int jsonLength, int rowsMax, Capacity.Ticket memory) {
        InferParser parser = new InferParser(body, bodyLength, jsonLength, rowsMax, memory);
        try (JsonParser in = JSON.createParser(body, 0, jsonLength)) {
            return parser.request(in);
        } catch (JsonProcessingException e) {
            throw notJson(e);
        } catch (IOException e) {
            throw new AssertionError("memory does not fail", e);
        }
    }

    /** Where it stops to be JSON; the parser's own message would repeat what is there. */
    static ContractException notJson(JsonProcessingException e) {
        String where = e.getLocation() == null
                ? ""
                : ": line=" + e.getLocation().getLineNr() + ", column="
                        + e.getLocation().getColumnNr();
        return new ContractException(ErrorCode.INVALID_ENVELOPE, "request must be JSON" + where);
    }

    private InferBody request(JsonParser in) throws IOException {
        if (in.nextToken() != JsonToken.START_OBJECT) {
            throw invalid("request must be a JSON object");
        }
        while (in.nextToken() != JsonToken.END_OBJECT) {
            String field = in.currentName();
            JsonToken value = in.nextToken();
            switch (field) {
                case "id" -> id = text(in, "id");
                case "parameters" -> parameters(in);
                case "inputs" -> inputs = inputs(in, value);
                case "outputs" -> outputs(in, value);
                default -> in.skipChildren();
            }
        }
        if (in.nextToken() != null) {
            throw invalid("request must end behind its JSON object");
        }
        return finish();
    }

    private void parameters(JsonParser in) throws IOException {
        expectObject(in, "parameters");
        while (in.nextToken() != JsonToken.END_OBJECT) {
            String field = in.currentName();
            in.nextToken();
            switch (field) {
                case "timeout_ms" -> timeoutMillis = whole(in, "timeout_ms", 1, Long.MAX_VALUE);
                case "on_error" -> nullOnError = onError(text(in, "on_error"));
                case "binary_data_output" -> binaryOutputs = flag(in, "binary_data_output");
                default -> in.skipChildren();
            }
        }
    }

    private static boolean onError(String value) {
        if (!value.equals("null") && !value.equals("abort")) {
            throw invalid("on_error must be abort or null: on_error=" + value);
        }
        return value.equals("null");
    }

    private void outputs(JsonParser in, JsonToken value) throws IOException {
        if (value != JsonToken.START_ARRAY) {
            throw invalid("outputs must be an array");
        }
        requested.clear();
        while (in.nextToken() != JsonToken.END_ARRAY) {
            expectObject(in, "output");
            output(in);
        }
    }

    private void output(JsonParser in) throws IOException {
        String name = "";
        Boolean binary = null;
        while (in.nextToken() != JsonToken.END_OBJECT) {
            String field = in.currentName();
            in.nextToken();
            switch (field) {
                case "name" -> name = text(in, "output name");
                case "parameters" -> binary = binaryData(in);
                default -> in.skipChildren();
            }
        }
        Output output = null;
        for (Output known : Output.values()) {
            if (known.name().toLowerCase(Locale.ROOT).equals(name)) {
                output = known;
            }
        }
        if (output == null) {
            throw invalid("output is unknown: output=" + name + ", known=prediction, probabilities, label");
        }
        requested.add(new Requested(output, binary));
    }

    private static @Nullable Boolean binaryData(JsonParser in) throws IOException {
        expectObject(in, "parameters");
        Boolean binary = null;
        while (in.nextToken() != JsonToken.END_OBJECT) {
            String field = in.currentName();
            in.nextToken();
            if (field.equals("binary_data")) {
                binary = flag(in, "binary_data");
            } else {
                in.skipChildren();
            }
        }
        return binary;
    }

    private List<Input> inputs(JsonParser in, JsonToken value) throws IOException {
        if (value != JsonToken.START_ARRAY) {
            throw invalid("inputs must be an array");
        }
        if (inputs != null) {
            throw invalid("inputs must be given once");
        }
        List<Input> all = new ArrayList<>();
        int binaryOffset = jsonLength;
        while (in.nextToken() != JsonToken.END_ARRAY) {
            if (all.size() == ModelManifest.WIDTH_LIMIT) {
                throw invalid("request has too many inputs: limit=" + ModelManifest.WIDTH_LIMIT);
            }
            expectObject(in, "input");
            InputReader reader = new InputReader(in, binaryOffset);
            all.add(reader.read());
            binaryOffset += reader.binaryLength();
        }
        if (binaryOffset != bodyLength) {
            throw invalid("binary data must be what the inputs say: binary_data_size=" + (binaryOffset - jsonLength)
                    + ", givenSize=" + (bodyLength - jsonLength));
        }
        return all;
    }

    private InferBody finish() {
        if (inputs == null || inputs.isEmpty()) {
            throw invalid("request must have inputs");
        }
        int rowCount = inputs.get(0).rows;
        if (rowCount == 0) {
            throw new ContractException(ErrorCode.EMPTY_BATCH, "request must have rows: rowCount=0");
        }
        if (rowCount > rowsMax) {
            throw new ContractException(
                    ErrorCode.PAYLOAD_TOO_LARGE,
                    "request has too many rows: rows=" + rowCount + ", limitRows=" + rowsMax);
        }
        memory.take((long) COLUMN_BYTES * Math.max(inputs.size(), inputs.get(0).columns));
        return new InferBody(id, timeoutMillis, nullOnError, wanted(), rows(inputs));
    }

    private static TensorRows rows(List<Input> inputs) {
        Input first = inputs.get(0);
        if (inputs.size() == 1 && first.isMatrix) {
            return TensorRows.ofMatrix(first.datatype, first.values, first.rows, first.columns);
        }
        List<Column> columns = new ArrayList<>(inputs.size());
        List<TensorValues> values = new ArrayList<>(inputs.size());
        for (Input input : inputs) {
            if (input.columns != 1) {
                throw invalid("input must be the only one, or have the shape [rows] or [rows, 1]: input=" + input.name
                        + ", columns=" + input.columns);
            }
            if (input.rows != first.rows) {
                throw invalid("inputs must have equally many rows: input=" + input.name + ", rows=" + input.rows
                        + ", firstInput=" + first.name + ", firstRows=" + first.rows);
            }
            columns.add(new Column(input.name, input.datatype.columnType(), true));
            values.add(input.values);
        }
        return TensorRows.ofColumns(columns, values, first.rows);
    }

    private List<WantedOutput> wanted() {
        if (requested.isEmpty()) {
            return List.of(new WantedOutput(Output.PREDICTION, binaryOutputs));
        }
        Set<Output> seen = EnumSet.noneOf(Output.class);
        List<WantedOutput> wanted = new ArrayList<>(requested.size());
        for (Requested each : requested) {
            if (!seen.add(each.output)) {
                throw invalid("output must be asked for once: output="
                        + each.output.name().toLowerCase(Locale.ROOT));
            }
            wanted.add(new WantedOutput(each.output, each.binary == null ? binaryOutputs : each.binary));
        }
        return wanted;
    }

    /** Reads one input. */
    private final class InputReader {
        private final JsonParser in;
        private final int binaryOffset;
        private String name = "";
        private @Nullable Datatype datatype;
        private long @Nullable [] shape;
        private int binaryLength = -1;
        private long dataOffset = -1;
        private @Nullable TensorValues values;

        InputReader(JsonParser in, int binaryOffset) {
            this.in = in;
            this.binaryOffset = binaryOffset;
        }

        /** Bytes of its binary tensor; 0 for none. */
        int binaryLength() {
            return Math.max(0, binaryLength);
        }

        Input read() throws IOException {
            String typeName = "";
            while (in.nextToken() != JsonToken.END_OBJECT) {
                String field = in.currentName();
                JsonToken value = in.nextToken();
                switch (field) {
                    case "name" -> name = text(in, "input name");
                    case "datatype" -> {
                        typeName = text(in, "datatype");
                        datatype = Datatype.of(name, typeName);
                    }
                    case "shape" -> shape = shape(value);
                    case "parameters" -> parameters();
                    case "data" -> data();
                    default -> in.skipChildren();
                }
            }
            return finish();
        }

        private long[] shape(JsonToken value) throws IOException {
            long[] dimensions = new long[2];
            int rank = 0;
            boolean fits = value == JsonToken.START_ARRAY;
            while (fits && in.nextToken() != JsonToken.END_ARRAY) {
                fits = rank < 2 && in.currentToken() == JsonToken.VALUE_NUMBER_INT;
                if (fits) {
                    dimensions[rank] = whole(in, "dimension", 0, Integer.MAX_VALUE);
                    rank++;
                }
            }
            if (!fits || rank == 0) {
                throw invalid("input shape must be [rows] or [rows, columns]: input=" + name);
            }
            return Arrays.copyOf(dimensions, rank);
        }

        private void parameters() throws IOException {
            expectObject(in, "parameters");
            while (in.nextToken() != JsonToken.END_OBJECT) {
                String field = in.currentName();
                in.nextToken();
                if (field.equals("binary_data_size")) {
                    binaryLength = (int) whole(in, "binary_data_size", 0, bodyLength - binaryOffset);
                } else {
                    in.skipChildren();
                }
            }
        }

        private void data() throws IOException {
            if (values != null || dataOffset >= 0) {
                throw invalid("input data must be given once: input=" + name);
            }
            if (datatype != null && shape != null) {
                values = values(in, datatype, shape);
            } else {
                dataOffset = in.currentTokenLocation().getByteOffset();
                in.skipChildren();
            }
        }

        private JsonValues values(JsonParser from, Datatype type, long[] dimensions) throws IOException {
            checkCount(dimensions, jsonLength);
            int columns = dimensions.length == 1 ? 1 : (int) dimensions[1];
            return JsonValues.read(from, name, type, (int) dimensions[0], columns, dimensions.length == 2, memory);
        }

        /** Whether the body can have as many values; that also keeps their count an int. */
        private void checkCount(long[] dimensions, int valuesMax) {
            long count = dimensions[0] * (dimensions.length == 1 ? 1 : dimensions[1]);
            if (count > valuesMax || (dimensions.length == 2 && dimensions[1] > ModelManifest.WIDTH_LIMIT)) {
                throw invalid("input shape must fit the request: input=" + name + ", shape="
                        + Arrays.toString(dimensions) + ", bytes=" + valuesMax);
            }
        }

        private Input finish() throws IOException {
            if (datatype == null || shape == null) {
                throw invalid("input must have a name, a shape and a datatype: input=" + name);
            }
            if (binaryLength >= 0) {
                if (values != null || dataOffset >= 0) {
                    throw invalid("input must have data or binary_data_size, not both: input=" + name);
                }
                checkCount(shape, binaryLength);
                values = BinaryValues.of(
                        name,
                        datatype,
                        ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN),
                        binaryOffset,
                        binaryLength,
                        (int) (shape[0] * (shape.length == 1 ? 1 : shape[1])),
                        memory);
            } else if (dataOffset >= 0) {
                try (JsonParser again = JSON.createParser(body, (int) dataOffset, jsonLength - (int) dataOffset)) {
                    again.nextToken();
                    values = values(again, datatype, shape);
                }
            }
            if (values == null) {
                throw invalid("input must have data: input=" + name);
            }
            int columns = shape.length == 1 ? 1 : (int) shape[1];
            return new Input(name, datatype, (int) shape[0], columns, shape.length == 2, values);
        }
    }

    private static void expectObject(JsonParser in, String what) {
        if (in.currentToken() != JsonToken.START_OBJECT) {
            throw invalid(what + " must be a JSON object");
        }
    }

    private static String text(JsonParser in, String what) throws IOException {
        if (in.currentToken() != JsonToken.VALUE_STRING) {
            throw invalid(what + " must be a string");
        }
        return in.getText();
    }

    private static boolean flag(JsonParser in, String what) {
        JsonToken token = in.currentToken();
        if (token != JsonToken.VALUE_TRUE && token != JsonToken.VALUE_FALSE) {
            throw invalid(what + " must be true or false");
        }
        return token == JsonToken.VALUE_TRUE;
    }

    private static long whole(JsonParser in, String what, long min, long max) throws IOException {
        if (in.currentToken() == JsonToken.VALUE_NUMBER_INT) {
            try {
                long value = in.getLongValue();
                if (value >= min && value <= max) {
                    return value;
                }
            } catch (InputCoercionException beyondLong) {
                // Said below, in the same words as a number out of range.
            }
        }
        throw invalid(what + " must be a whole number: min=" + min + ", max=" + max);
    }

    private static ContractException invalid(String message) {
        return new ContractException(ErrorCode.INVALID_ENVELOPE, message);
    }
}
