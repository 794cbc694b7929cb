package io.millrace.gateway.http;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.RowReader;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.layout.RequestKind;
import io.millrace.contract.layout.ValueKind;
import io.millrace.gateway.core.Completion;
import io.millrace.gateway.core.Request;
import io.millrace.gateway.core.RowSchema;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Makes a model resident, then goes on; it holds its ticket until then. */
final class LoadRequest extends Request implements Completion {
    private final Exchange exchange;
    private final ModelReference model;
    private final Capacity.Ticket ticket;
    private final Runnable loaded;

    /**
     * A load that answers errors itself.
     *
     * @param loaded answers the exchange once the model is resident
     */
    LoadRequest(
            Exchange exchange,
            ModelReference model,
            Capacity.Ticket ticket,
            long acceptedNanos,
            long deadlineNanos,
            Runnable loaded) {
        this.exchange = exchange;
        this.model = model;
        this.ticket = ticket;
        this.loaded = loaded;
        trace(exchange.trace());
        open(RequestKind.LOAD, model.modelKey(), deadlineNanos, acceptedNanos, 0);
    }

    @Override
    public boolean isWanted() {
        return exchange.isOpen();
    }

    @Override
    public ModelReference reference() {
        return model;
    }

    @Override
    public @Nullable RowSchema schema() {
        return null;
    }

    @Override
    public RowReader nextRow() {
        throw new AssertionError("a load has no rows");
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
    public void begin(ValueKind kind, int rowCount, long modelKey, long modelId) {}

    @Override
    public void text(byte[] value) {}

    @Override
    public void complete() {
        try {
            loaded.run();
        } catch (RuntimeException | Error e) {
            exchange.fail(e);
        } finally {
            ticket.close();
        }
    }

    @Override
    public void fail(ErrorCode code, String message, String hint) {
        exchange.fail(code, message);
        ticket.close();
    }

    @Override
    public void scalar(double value) {
        throw new AssertionError(kind());
    }

    @Override
    public void vector(double[] values, int count) {
        throw new AssertionError(kind());
    }

    @Override
    public void vector32(float[] values, int offset, int count) {
        throw new AssertionError(kind());
    }

    @Override
    public void full(double prediction, byte[] label, double[] probabilities, int count) {
        throw new AssertionError(kind());
    }

    @Override
    public void bytes(ByteBuffer value) {
        throw new AssertionError(kind());
    }

    @Override
    public void rowFailed(ErrorCode code, String message) {
        throw new AssertionError(kind());
    }
}
