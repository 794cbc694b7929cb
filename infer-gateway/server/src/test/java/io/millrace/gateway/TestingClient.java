package io.millrace.gateway;

import io.millrace.contract.Column;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.RowReader;
import io.millrace.contract.envelope.DescriptorParser;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.envelope.RequestEnvelope;
import io.millrace.contract.envelope.ResponseEnvelope;
import io.millrace.contract.envelope.RowEncoder;
import io.millrace.contract.layout.RequestKind;
import io.millrace.region.TestingBackend;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What the extension does for one session: sends rows, and resends with what the gateway asks for. Threads: one. */
final class TestingClient implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final TestingBackend backend;

    TestingClient(Path regionDirectory) throws IOException {
        backend = TestingBackend.attach(regionDirectory);
    }

    /** One row of an answer; what does not belong to the kind is empty. */
    record Row(ErrorCode status, double scalar, String text, List<Double> vector) {}

    /** An answer; rows when the status is OK, else message and hint. */
    record Answer(ErrorCode status, String message, String hint, long modelKey, long modelId, List<Row> rows) {}

    TestingBackend backend() {
        return backend;
    }

    /** Asks like a session that knows the model's reference, and gives it only when asked. */
    Answer ask(RequestKind kind, ModelReference reference, List<Column> columns, List<? extends RowReader> rows)
            throws IOException {
        boolean withDescriptor = false;
        boolean withReference = false;
        while (true) {
            Answer answer = send(kind, reference, columns, rows, withDescriptor, withReference);
            if (answer.status() == ErrorCode.NEED_DESCRIPTOR && !withDescriptor) {
                withDescriptor = true;
            } else if (answer.status() == ErrorCode.NEED_MODEL && !withReference) {
                withReference = true;
            } else {
                return answer;
            }
        }
    }

    /** Asks once. */
    Answer send(
            RequestKind kind,
            ModelReference reference,
            List<Column> columns,
            List<? extends RowReader> rows,
            boolean withDescriptor,
            boolean withReference)
            throws IOException {
        RowEncoder encoder = new RowEncoder(columns);
        rows.forEach(encoder::add);
        byte[] descriptor = DescriptorParser.encode(columns);
        return call(
                kind,
                reference.modelKey(),
                request(
                        rows.size(),
                        DescriptorParser.hash(descriptor),
                        withDescriptor ? descriptor : new byte[0],
                        withReference ? reference.toJson() : new byte[0],
                        encoder.rows()));
    }

    Answer load(ModelReference reference) throws IOException {
        return call(
                RequestKind.LOAD,
                reference.modelKey(),
                request(0, 0, new byte[0], reference.toJson(), ByteBuffer.allocate(0)));
    }

    /** STATUS or ECHO. */
    Answer call(RequestKind kind, byte[] payload) throws IOException {
        return call(kind, 0, request(0, 0, new byte[0], new byte[0], ByteBuffer.wrap(payload)));
    }

    static byte[] request(
            int rowCount, long descriptorHash, byte[] descriptor, byte[] modelReference, ByteBuffer rows) {
        long length = RequestEnvelope.encodedLength(descriptor.length, modelReference.length, rows.remaining());
        ByteBuffer slab = ByteBuffer.allocate((int) length).order(ByteOrder.LITTLE_ENDIAN);
        RequestEnvelope.encode(slab, 0, rowCount, descriptorHash, descriptor, modelReference, rows);
        return slab.array();
    }

    Answer call(RequestKind kind, long modelKey, byte[] request) throws IOException {
        return decode(backend.call(kind, modelKey, request, TIMEOUT));
    }

    static Answer decode(TestingBackend.Answer answer) {
        ByteBuffer response = ByteBuffer.wrap(answer.response()).order(ByteOrder.LITTLE_ENDIAN);
        ErrorCode status = ErrorCode.of(answer.status());
        if (status != ErrorCode.OK) {
            ResponseEnvelope.Failure failure = ResponseEnvelope.failure(response, 0, response.capacity());
            return new Answer(status, failure.message(), failure.hint(), 0, 0, List.of());
        }
        ResponseEnvelope envelope = new ResponseEnvelope().wrap(response, 0, response.capacity());
        List<Row> rows = new ArrayList<>();
        while (envelope.next()) {
            rows.add(row(envelope));
        }
        return new Answer(status, "", "", envelope.modelKey(), envelope.modelId(), rows);
    }

    private static Row row(ResponseEnvelope envelope) {
        if (envelope.rowStatus() != ErrorCode.OK) {
            return new Row(envelope.rowStatus(), Double.NaN, envelope.text(), List.of());
        }
        return switch (envelope.kind()) {
            case SCALAR -> new Row(ErrorCode.OK, envelope.scalar(), "", List.of());
            case VECTOR, VECTOR32 -> new Row(ErrorCode.OK, Double.NaN, "", vector(envelope));
            case TEXT, BYTES -> new Row(ErrorCode.OK, Double.NaN, envelope.text(), List.of());
            case FULL -> new Row(ErrorCode.OK, envelope.scalar(), envelope.text(), vector(envelope));
        };
    }

    private static List<Double> vector(ResponseEnvelope envelope) {
        List<Double> values = new ArrayList<>();
        for (double value : envelope.vector()) {
            values.add(value);
        }
        return values;
    }

    @Override
    public void close() throws IOException {
        backend.close();
    }
}
