package io.millrace.gateway.http;

import com.fasterxml.jackson.core.JsonGenerator;
import io.millrace.contract.Column;
import io.millrace.contract.JsonText;
import io.millrace.contract.fitted.BoundTransform;
import io.millrace.engine.Engines;
import io.millrace.engine.Scorer;
import io.millrace.engine.TestingModels.TestingPackage;
import io.millrace.engine.TestingRow;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.List;

/** Rows as bodies of infer requests, and what the model itself says of them. */
final class TestingRows {
    private TestingRows() {}

    private static final List<String> DATATYPES = List.of("INT64", "FP64", "BYTES", "BOOL", "BYTES");

    /** One input for each column; {@code outputs} as JSON. */
    static String columns(TestingPackage model, List<TestingRow> rows, String outputs) {
        byte[] json = JsonText.of(out -> {
            out.writeStartObject();
            out.writeArrayFieldStart("inputs");
            List<Column> columns = model.fitted().inputs().columns();
            for (int column = 0; column < columns.size(); column++) {
                out.writeStartObject();
                out.writeStringField("name", columns.get(column).name());
                writeShape(out, rows.size());
                out.writeStringField("datatype", DATATYPES.get(column));
                out.writeArrayFieldStart("data");
                for (TestingRow row : rows) {
                    writeValue(out, row, column);
                }
                out.writeEndArray();
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeFieldName("outputs");
            out.writeRawValue(outputs);
            out.writeEndObject();
        });
        return new String(json, StandardCharsets.UTF_8);
    }

    private static void writeShape(JsonGenerator out, int rowCount) throws IOException {
        out.writeArrayFieldStart("shape");
        out.writeNumber(rowCount);
        out.writeEndArray();
    }

    private static void writeValue(JsonGenerator out, TestingRow row, int column) throws IOException {
        if (row.isNull(column)) {
            out.writeNull();
        } else {
            switch (column) {
                case 0 -> out.writeNumber(row.int64(column));
                case 1 -> out.writeNumber(row.float64(column));
                case 2 -> out.writeString(row.text(column));
                case 3 -> out.writeBoolean(row.booleanValue(column));
                default ->
                    out.writeString(LocalDate.ofEpochDay(row.int64(column)).toString());
            }
        }
    }

    /** A request with binary tensors. */
    record Binary(HttpRequest.BodyPublisher body, int jsonLength) {}

    /** The same with binary inputs; only for rows without NULL. */
    static Binary binary(TestingPackage model, List<TestingRow> rows, String outputs) {
        ByteArrayOutputStream tensors = new ByteArrayOutputStream();
        byte[] json = JsonText.of(out -> {
            out.writeStartObject();
            out.writeArrayFieldStart("inputs");
            List<Column> columns = model.fitted().inputs().columns();
            for (int column = 0; column < columns.size(); column++) {
                int before = tensors.size();
                for (TestingRow row : rows) {
                    tensors.writeBytes(value(row, column));
                }
                out.writeStartObject();
                out.writeStringField("name", columns.get(column).name());
                writeShape(out, rows.size());
                out.writeStringField("datatype", DATATYPES.get(column));
                out.writeObjectFieldStart("parameters");
                out.writeNumberField("binary_data_size", tensors.size() - before);
                out.writeEndObject();
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeFieldName("outputs");
            out.writeRawValue(outputs);
            out.writeEndObject();
        });
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.writeBytes(json);
        body.writeBytes(tensors.toByteArray());
        return new Binary(HttpRequest.BodyPublishers.ofByteArray(body.toByteArray()), json.length);
    }

    private static byte[] value(TestingRow row, int column) {
        ByteBuffer number = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
        return switch (column) {
            case 0 -> number.putLong(row.int64(column)).array();
            case 1 -> number.putDouble(row.float64(column)).array();
            case 2 -> text(row.text(column));
            case 3 -> new byte[] {(byte) (row.booleanValue(column) ? 1 : 0)};
            default -> text(LocalDate.ofEpochDay(row.int64(column)).toString());
        };
    }

    private static byte[] text(String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(4 + bytes.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(bytes.length)
                .put(bytes)
                .array();
    }

    /** The outputs of the model's own scorer, one array for each row. */
    static float[][] scores(TestingPackage model, List<TestingRow> rows) {
        BoundTransform transform = model.fitted().bind(model.fitted().inputs().columns());
        float[][] scores = new float[rows.size()][];
        try (Scorer scorer = Engines.load(model.directory(), model.manifest())) {
            for (int row = 0; row < scores.length; row++) {
                float[] features = new float[transform.width()];
                transform.apply(rows.get(row), features, 0);
                scores[row] = new float[scorer.outputs()];
                scorer.score(features, 1, scores[row]);
            }
        }
        return scores;
    }
}
