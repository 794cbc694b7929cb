package io.millrace.gateway.http;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.RowReader;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.layout.RequestKind;
import io.millrace.contract.layout.ValueKind;
import io.millrace.gateway.core.Completion;
import io.millrace.gateway.core.Request;
import io.millrace.gateway.core.RowSchema;
import io.millrace.gateway.http.InferBody.WantedOutput;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** An infer request in the pipeline; it holds its ticket until the answer is out. */
final class InferRequest extends Request implements Completion {
    static final String HEADER_LENGTH = "Inference-Header-Content-Length";
    private static final String BINARY = "application/octet-stream";

    /** A request of more rows is a job, as {@code ml.predict_batch} is one, and lets requests of a few rows go first. */
    private static final int SINGLE_ROWS_MAX = 64;

    /** Values of an answer that the thread which scored it also writes: that costs less than to wake another one. */
    private static final int OWN_VALUES_MAX = 256;

    private final Exchange exchange;
    private final Catalog.Model model;
    private final InferBody body;
    private final RowSchema schema;
    private final Capacity.Ticket ticket;
    private final Executor writers;
    private final InferAnswer answer;

    InferRequest(
            Exchange exchange,
            Catalog.Model model,
            InferBody body,
            RowSchema schema,
            Capacity.Ticket ticket,
            Executor writers,
            long acceptedNanos,
            long deadlineNanos) {
        this.exchange = exchange;
        this.model = model;
        this.body = body;
        this.schema = schema;
        this.ticket = ticket;
        this.writers = writers;
        this.answer = new InferAnswer(body, model.reference(), ticket);
        trace(exchange.trace());
        open(
                kind(body.outputs()),
                model.reference().modelKey(),
                deadlineNanos,
                acceptedNanos,
                body.rows().rowCount());
        tenant(
                body.rows().rowCount() > SINGLE_ROWS_MAX,
                model.tenantKey(),
                model.reference().limits().fingerprint());
    }

    /** The cheapest kind that answers all outputs. */
    private static RequestKind kind(List<WantedOutput> outputs) {
        if (outputs.size() > 1) {
            return RequestKind.FULL;
        }
        return switch (outputs.get(0).output()) {
            case PREDICTION -> RequestKind.PREDICT;
            case PROBABILITIES -> RequestKind.PROBA;
            case LABEL -> RequestKind.CLASS;
        };
    }

    @Override
    public boolean isWanted() {
        return exchange.isOpen();
    }

    @Override
    public ModelReference reference() {
        return model.reference();
    }

    @Override
    public RowSchema schema() {
        return schema;
    }

    @Override
    public RowReader nextRow() {
        return body.rows().next();
    }

    @Override
    public ByteBuffer payload() {
        return ByteBuffer.allocate(0);
    }

    @Override
    public Completion completion() {
        return this;
    }

    @Override
    public void begin(ValueKind kind, int rowCount, long modelKey, long modelId) {
        answer.begin();
    }

    @Override
    public void scalar(double value) {
        answer.prediction(value);
        answer.nextRow();
    }

    @Override
    public void vector(double[] values, int count) {
        answer.probabilities(values, count);
        answer.nextRow();
    }

    @Override
    public void text(byte[] value) {
        answer.label(value);
        answer.nextRow();
    }

    @Override
    public void full(double prediction, byte[] label, double[] probabilities, int count) {
        answer.prediction(prediction);
        if (count == 0) {
            answer.withoutClasses();
        } else {
            answer.label(label);
            answer.probabilities(probabilities, count);
        }
        answer.nextRow();
    }

    @Override
    public void vector32(float[] values, int offset, int count) {
        throw new AssertionError(kind());
    }

    @Override
    public void bytes(ByteBuffer value) {
        throw new AssertionError(kind());
    }

    @Override
    public void rowFailed(ErrorCode code, String message) {
        answer.rowFailed(code, message);
        answer.nextRow();
    }

    @Override
    public void complete() {
        if ((long) rowCount() * body.outputs().size() <= OWN_VALUES_MAX) {
            write();
            return;
        }
        try {
            writers.execute(this::write);
        } catch (RejectedExecutionException stopping) {
            write();
        }
    }

    private void write() {
        try {
            InferAnswer.Encoded encoded = answer.encode();
            boolean binary = encoded.jsonLength() < encoded.bytes().remaining()
                    || body.outputs().stream().anyMatch(WantedOutput::binary);
            exchange.send(
                    200,
                    binary ? BINARY : Exchange.JSON,
                    encoded.bytes(),
                    binary ? HEADER_LENGTH : "",
                    Integer.toString(encoded.jsonLength()),
                    ticket::close);
        } catch (ContractException e) {
            refuse(e.code(), String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            exchange.fail(e);
            ticket.close();
        }
    }

    @Override
    public void fail(ErrorCode code, String message, String hint) {
        refuse(code, message);
    }

    private void refuse(ErrorCode code, String message) {
        exchange.fail(code, message);
        ticket.close();
    }
}
