package io.millrace.gateway.memory;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.RowReader;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.envelope.RequestEnvelope;
import io.millrace.contract.envelope.ResponseEncoder;
import io.millrace.contract.envelope.WireRow;
import io.millrace.contract.layout.PayloadLayout;
import io.millrace.contract.layout.RequestKind;
import io.millrace.contract.layout.SlotLayout;
import io.millrace.contract.layout.ValueKind;
import io.millrace.gateway.core.Completion;
import io.millrace.gateway.core.Request;
import io.millrace.gateway.core.RowSchema;
import io.millrace.region.Region;
import io.millrace.region.SlotTable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The request in one slot; one object per slot, reused, since a slot holds one request at a time. It reads the request
 * slab, or the file of a request that does not fit it, where it lies and writes the answer where the backend reads it.
 */
final class SlotRequest extends Request implements Completion {
    private static final WireRow NO_ROWS = new WireRow(List.of());

    private final Region region;
    private final SlotTable slots;
    private final DescriptorCache descriptors;
    private final PayloadMemory memory;
    private final int slotIndex;
    private final ByteBuffer requestSlab;
    private final ByteBuffer responseSlab;
    private final ByteBuffer payloadView;
    private final RequestEnvelope envelope = new RequestEnvelope();
    private final ResponseEncoder encoder = new ResponseEncoder(this::grow);

    /** Whether the response slab has its memory, so that it may be written. */
    private boolean responseHeld;

    private long runningWord;
    private int connectionId;
    private @Nullable ByteBuffer requestPayload;
    private @Nullable ByteBuffer responsePayload;
    private @Nullable RowSchema rowSchema;
    private WireRow row = NO_ROWS;
    private boolean rowsBegun;
    private int rowsLeft;

    SlotRequest(Region region, DescriptorCache descriptors, PayloadMemory memory, int slotIndex) {
        this.region = region;
        this.slots = region.slots();
        this.descriptors = descriptors;
        this.memory = memory;
        this.slotIndex = slotIndex;
        this.requestSlab = slots.requestSlab(slotIndex);
        this.responseSlab = slots.responseSlab(slotIndex);
        this.payloadView = requestSlab.duplicate();
    }

    /**
     * Begins with what the slot holds now.
     *
     * @param word of the slot, in state RUNNING
     * @param nowNanos when the dispatcher took it
     * @throws ContractException if the line or the envelope is malformed; {@link #fail} is possible
     */
    void begin(long word, long nowNanos) {
        runningWord = word;
        connectionId = slots.connectionId(slotIndex);
        slots.recordTaken(slotIndex, nowNanos);
        trace(
                slots.traceIdHigh(slotIndex),
                slots.traceIdLow(slotIndex),
                slots.spanId(slotIndex),
                slots.isTraceSampled(slotIndex));
        rowsBegun = false;
        responseHeld = responseHeld || region.holdResponse(slotIndex);
        if (!responseHeld) {
            throw new ContractException(
                    ErrorCode.DISK_FULL, "region has no memory for an answer: slotIndex=" + slotIndex);
        }
        int length = slots.requestLength(slotIndex);
        if (length < 0 || length > PayloadLayout.LENGTH_LIMIT) {
            throw new ContractException(
                    ErrorCode.PAYLOAD_TOO_LARGE,
                    "request is too long: length=" + Integer.toUnsignedString(length) + ", limitLength="
                            + PayloadLayout.LENGTH_LIMIT);
        }
        RequestKind kind = RequestKind.of(slots.kind(slotIndex));
        envelope.wrap(length <= SlotLayout.SLAB_LENGTH ? requestSlab : openPayload(length), 0, length);
        rowsLeft = envelope.rowCount();
        open(kind, slots.modelKey(slotIndex), slots.deadlineNanos(slotIndex), nowNanos, kind.hasRows() ? rowsLeft : 0);
        submitted(slots.submittedNanos(slotIndex));
        tenant(envelope.isBulk(), envelope.tenantKey(), envelope.limits());
    }

    private ByteBuffer openPayload(int length) {
        memory.reserve(length);
        try {
            ByteBuffer payload = region.payloads().openRequest(slotIndex, runningWord, length);
            requestPayload = payload;
            return payload;
        } catch (IOException e) {
            memory.release(length);
            throw new ContractException(ErrorCode.IO_FAILED, "request payload cannot be read: reason=" + e, e);
        }
    }

    @Override
    public boolean isWanted() {
        return slots.isWanted(slotIndex, runningWord);
    }

    @Override
    public @Nullable ModelReference reference() {
        return envelope.hasModelReference() ? envelope.modelReference() : null;
    }

    @Override
    public @Nullable RowSchema schema() {
        RowSchema schema = descriptors.schema(envelope);
        // A session asks with the same columns again and again, often through the same slot.
        if (schema != null && schema != rowSchema) {
            rowSchema = schema;
            row = new WireRow(schema.columns());
        }
        return schema;
    }

    @Override
    public RowReader nextRow() {
        if (!rowsBegun) {
            rowsBegun = true;
            row.wrap(envelope);
        }
        if (!row.next()) {
            throw new ContractException(
                    ErrorCode.INVALID_ENVELOPE, "request has fewer rows than asked for: rowCount=" + rowCount());
        }
        if (--rowsLeft == 0) {
            // Looks for bytes behind the last row and stays on it.
            row.next();
        }
        return row;
    }

    @Override
    public ByteBuffer payload() {
        int offset = envelope.rowsOffset();
        ByteBuffer view = requestPayload == null ? payloadView : requestPayload.duplicate();
        return view.clear().position(offset).limit(offset + envelope.rowsLength());
    }

    @Override
    public Completion completion() {
        return this;
    }

    @Override
    public void begin(ValueKind kind, int rowCount, long modelKey, long modelId) {
        freeResponse();
        encoder.begin(responseSlab, 0, SlotLayout.SLAB_LENGTH, kind, rowCount, modelKey, modelId);
    }

    private @Nullable ByteBuffer grow(ByteBuffer current, long neededLength) {
        ByteBuffer grown = memory.grow(current, responsePayload, neededLength);
        if (grown != null) {
            responsePayload = grown;
        }
        return grown;
    }

    @Override
    public void scalar(double value) {
        encoder.scalar(value);
    }

    @Override
    public void vector(double[] values, int count) {
        encoder.vector(values, 0, count);
    }

    @Override
    public void vector32(float[] values, int offset, int count) {
        encoder.vector32(values, offset, count);
    }

    @Override
    public void text(byte[] value) {
        encoder.bytes(value);
    }

    @Override
    public void full(double prediction, byte[] label, double[] probabilities, int count) {
        encoder.full(prediction, label, probabilities, 0, count);
    }

    @Override
    public void bytes(ByteBuffer value) {
        encoder.bytes(value, value.position(), value.remaining());
    }

    @Override
    public void rowFailed(ErrorCode code, String message) {
        encoder.error(code, message);
    }

    @Override
    public void complete() {
        int length = encoder.length();
        ByteBuffer payload = responsePayload;
        if (payload != null) {
            try {
                region.payloads()
                        .writeResponse(
                                slotIndex,
                                runningWord,
                                payload.duplicate().clear().limit(length));
            } catch (IOException e) {
                fail(
                        ErrorCode.DISK_FULL,
                        "response payload cannot be written: length=" + length + ", reason=" + e,
                        "Enlarge the tmpfs of region-directory, or send fewer rows at once.");
                return;
            }
        }
        finish(length, ErrorCode.OK);
    }

    @Override
    public void fail(ErrorCode code, String message, String hint) {
        // Without memory the code alone is told; the session knows what it means.
        finish(responseHeld ? encoder.failure(responseSlab, 0, SlotLayout.SLAB_LENGTH, message, hint) : 0, code);
    }

    private void finish(int length, ErrorCode code) {
        freePayloads();
        // The slot, and with it this object, may have its next request the moment it is finished.
        int ringId = connectionId;
        long word = runningWord;
        if (slots.finish(slotIndex, word, length, code.code(), System.nanoTime())) {
            if (slots.wakeOwner(slotIndex)) {
                region.doorbell().ring(ringId);
            }
        } else if (length > SlotLayout.SLAB_LENGTH) {
            // Nobody waits for it any more.
            region.payloads().remove(slotIndex, word);
        }
    }

    private void freePayloads() {
        if (requestPayload != null) {
            memory.free(requestPayload);
            requestPayload = null;
        }
        freeResponse();
    }

    private void freeResponse() {
        if (responsePayload != null) {
            memory.free(responsePayload);
            responsePayload = null;
        }
    }
}
