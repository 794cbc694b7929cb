package io.millrace.contract.envelope;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.ResponseLayout;
import io.millrace.contract.layout.ValueKind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A view that moves over the rows of a response with status 0; see {@link ResponseLayout} for the diagram. The
 * extension has its own in C; this one serves tests and callers in Java. Reusable. Threads: one.
 */
public final class ResponseEnvelope {
    /** The response of a status that is not 0. */
    public record Failure(String message, String hint) {}

    private ByteBuffer buffer = ByteBuffer.allocate(0);
    private ValueKind kind = ValueKind.SCALAR;
    private int rowCount;
    private long modelKey;
    private long modelId;
    private int position;
    private int limit;
    private int rowsLeft;

    private int rowStatus;
    private int scalarOffset;
    private int bytesOffset;
    private int bytesLength;
    private int vectorOffset;
    private int vectorCount;

    /**
     * Stands before the first row.
     *
     * @param slab little-endian
     * @param base absolute offset of the response
     * @param length bytes of the response
     * @return this
     * @throws io.millrace.contract.ContractException {@link ErrorCode#UNKNOWN_VERSION} or {@link
     *     ErrorCode#INVALID_ENVELOPE} if the header is malformed
     */
    public ResponseEnvelope wrap(ByteBuffer slab, int base, int length) {
        assert slab.order() == ByteOrder.LITTLE_ENDIAN : slab.order();
        Invalid.checkRemaining("response", length, base, slab.limit());
        Invalid.checkRemaining("response", ResponseLayout.HEADER_LENGTH, 0, length);
        Invalid.checkVersion("response", Short.toUnsignedInt(slab.getShort(base + ResponseLayout.VERSION_OFFSET)));
        buffer = slab;
        kind = ValueKind.of(Short.toUnsignedInt(slab.getShort(base + ResponseLayout.VALUE_KIND_OFFSET)));
        rowCount = slab.getInt(base + ResponseLayout.ROW_COUNT_OFFSET);
        modelKey = slab.getLong(base + ResponseLayout.MODEL_KEY_OFFSET);
        modelId = slab.getLong(base + ResponseLayout.MODEL_ID_OFFSET);
        position = base + ResponseLayout.HEADER_LENGTH;
        limit = base + length;
        if (rowCount < 0 || rowCount > length) {
            throw Invalid.envelope("response row count is too large: rows=" + Integer.toUnsignedString(rowCount)
                    + ", length=" + length);
        }
        rowsLeft = rowCount;
        return this;
    }

    /**
     * Moves to the next row.
     *
     * @return false after the last one
     * @throws io.millrace.contract.ContractException {@link ErrorCode#INVALID_ENVELOPE} if the row does not end inside
     *     the response, or bytes follow the last one
     */
    public boolean next() {
        if (rowsLeft == 0) {
            if (position != limit) {
                throw Invalid.envelope("response has bytes after the last row: remaining=" + (limit - position));
            }
            return false;
        }
        rowsLeft--;
        rowStatus = buffer.getInt(take(Integer.BYTES));
        if (rowStatus != ErrorCode.OK.code()) {
            takeBytes();
            return true;
        }
        switch (kind) {
            case SCALAR -> scalarOffset = take(Double.BYTES);
            case VECTOR -> takeVector(Double.BYTES);
            case VECTOR32 -> takeVector(Float.BYTES);
            case TEXT, BYTES -> takeBytes();
            case FULL -> {
                scalarOffset = take(Double.BYTES);
                takeBytes();
                takeVector(Double.BYTES);
            }
        }
        return true;
    }

    private int take(long length) {
        Invalid.checkRemaining("response", length, position, limit);
        int offset = position;
        position += (int) length;
        return offset;
    }

    private void takeBytes() {
        bytesLength = buffer.getInt(take(Integer.BYTES));
        bytesOffset = take(bytesLength);
    }

    private void takeVector(int elementLength) {
        vectorCount = buffer.getInt(take(Integer.BYTES));
        vectorOffset = take((long) vectorCount * elementLength);
    }

    /** What an answered row holds. */
    public ValueKind kind() {
        return kind;
    }

    /** Rows of the response. */
    public int rowCount() {
        return rowCount;
    }

    /** Model key that answered; 0 when no model did. */
    public long modelKey() {
        return modelKey;
    }

    /** Model id that answered; 0 when no model did. */
    public long modelId() {
        return modelId;
    }

    /** {@link ErrorCode#OK} when the row was answered, else why not, and {@link #text} is the message. */
    public ErrorCode rowStatus() {
        return ErrorCode.of(rowStatus);
    }

    /** The number of a SCALAR or FULL row. */
    public double scalar() {
        return buffer.getDouble(scalarOffset);
    }

    /** The text of a TEXT row, the label of a FULL row, or the message of a row that was not answered. */
    public String text() {
        return new String(bytes(), StandardCharsets.UTF_8);
    }

    /** The bytes of a BYTES row. */
    public byte[] bytes() {
        byte[] bytes = new byte[bytesLength];
        buffer.get(bytesOffset, bytes);
        return bytes;
    }

    /** The numbers of a VECTOR, VECTOR32 or FULL row. */
    public double[] vector() {
        double[] values = new double[vectorCount];
        for (int index = 0; index < values.length; index++) {
            values[index] = kind == ValueKind.VECTOR32
                    ? buffer.getFloat(vectorOffset + index * Float.BYTES)
                    : buffer.getDouble(vectorOffset + index * Double.BYTES);
        }
        return values;
    }

    /**
     * Reads the response of a status that is not 0.
     *
     * @throws io.millrace.contract.ContractException {@link ErrorCode#INVALID_ENVELOPE} if it is malformed
     */
    public static Failure failure(ByteBuffer slab, int base, int length) {
        Invalid.checkRemaining("response", length, base, slab.limit());
        ResponseEnvelope response = new ResponseEnvelope();
        response.buffer = slab;
        response.position = base;
        response.limit = base + length;
        response.takeBytes();
        String message = response.text();
        response.takeBytes();
        return new Failure(message, response.text());
    }
}
