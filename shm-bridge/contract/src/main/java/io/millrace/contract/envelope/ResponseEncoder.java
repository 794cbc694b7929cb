package io.millrace.contract.envelope;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.RequestLayout;
import io.millrace.contract.layout.ResponseLayout;
import io.millrace.contract.layout.ValueKind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Writes a response, row after row; see {@link io.millrace.contract.layout.ResponseLayout} for the diagram. Every call
 * throws {@link ErrorCode#PAYLOAD_TOO_LARGE} when the room is used up and there is no more. Reusable. Threads: one.
 */
public final class ResponseEncoder {
    /** Gives a response more room when it outgrows what it has. */
    @FunctionalInterface
    public interface Overflow {
        /** Gives none. */
        Overflow NONE = (current, neededLength) -> null;

        /**
         * A larger buffer with the same bytes, from its offset 0 on to its limit.
         *
         * @param current the response as far as it is written, from position to limit
         * @param neededLength bytes it must hold at least
         * @return null when there is no more room; little-endian
         */
        @Nullable
        ByteBuffer grow(ByteBuffer current, long neededLength);
    }

    private final Overflow overflow;
    private ByteBuffer buffer = ByteBuffer.allocate(0);
    private int base;
    private int position;
    private int limit;

    /** An encoder that keeps to the room it is given. */
    public ResponseEncoder() {
        this(Overflow.NONE);
    }

    /** An encoder that asks for more room. */
    public ResponseEncoder(Overflow overflow) {
        this.overflow = overflow;
    }

    /**
     * Begins a response with status 0.
     *
     * @param slab little-endian
     * @param offset absolute
     * @param room bytes that may be written
     * @param kind of every answered row
     * @param rowCount rows that will follow
     * @param modelKey that answers; 0 when no model does
     * @param modelId that answers; 0 when no model does
     */
    public ResponseEncoder begin(
            ByteBuffer slab, int offset, int room, ValueKind kind, int rowCount, long modelKey, long modelId) {
        wrap(slab, offset, room);
        reserve(ResponseLayout.HEADER_LENGTH);
        slab.putShort(offset + ResponseLayout.VERSION_OFFSET, (short) RequestLayout.VERSION);
        slab.putShort(offset + ResponseLayout.VALUE_KIND_OFFSET, (short) kind.code());
        slab.putInt(offset + ResponseLayout.ROW_COUNT_OFFSET, rowCount);
        slab.putLong(offset + ResponseLayout.MODEL_KEY_OFFSET, modelKey);
        slab.putLong(offset + ResponseLayout.MODEL_ID_OFFSET, modelId);
        position += ResponseLayout.HEADER_LENGTH;
        return this;
    }

    private void wrap(ByteBuffer slab, int offset, int room) {
        assert slab.order() == ByteOrder.LITTLE_ENDIAN : slab.order();
        buffer = slab;
        base = offset;
        position = offset;
        limit = offset + room;
    }

    /** A row of {@link ValueKind#SCALAR}. */
    public void scalar(double value) {
        reserve(Integer.BYTES + Double.BYTES);
        putInt(ErrorCode.OK.code());
        putDouble(value);
    }

    /** A row of {@link ValueKind#VECTOR}. */
    public void vector(double[] values, int offset, int count) {
        reserve(Integer.BYTES);
        putInt(ErrorCode.OK.code());
        putVector(values, offset, count);
    }

    /** A row of {@link ValueKind#VECTOR32}. */
    public void vector32(float[] values, int offset, int count) {
        reserve(2L * Integer.BYTES + (long) count * Float.BYTES);
        putInt(ErrorCode.OK.code());
        putInt(count);
        for (int index = 0; index < count; index++) {
            buffer.putFloat(position, values[offset + index]);
            position += Float.BYTES;
        }
    }

    /** A row of {@link ValueKind#TEXT}. */
    public void text(String value) {
        bytes(value.getBytes(StandardCharsets.UTF_8));
    }

    /** A row of {@link ValueKind#TEXT} from UTF-8, or of {@link ValueKind#BYTES}. */
    public void bytes(byte[] value) {
        reserve(Integer.BYTES);
        putInt(ErrorCode.OK.code());
        putBytes(value);
    }

    /** A row of {@link ValueKind#BYTES} from another buffer. */
    public void bytes(ByteBuffer source, int offset, int length) {
        reserve(2L * Integer.BYTES + length);
        putInt(ErrorCode.OK.code());
        putInt(length);
        buffer.put(position, source, offset, length);
        position += length;
    }

    /** A row of {@link ValueKind#FULL}; label in UTF-8, empty for a regression, which has no probabilities either. */
    public void full(double prediction, byte[] label, double[] probabilities, int offset, int count) {
        reserve(Integer.BYTES + Double.BYTES);
        putInt(ErrorCode.OK.code());
        putDouble(prediction);
        putBytes(label);
        putVector(probabilities, offset, count);
    }

    /** A row that was not answered; a message over the limit is cut. */
    public void error(ErrorCode code, String message) {
        assert code != ErrorCode.OK;
        reserve(Integer.BYTES);
        putInt(code.code());
        putBytes(cut(message));
    }

    /** Where the response is; it has grown if this is not what {@link #begin} was given. */
    public ByteBuffer buffer() {
        return buffer;
    }

    /** Bytes written since {@link #begin}. */
    public int length() {
        return position - base;
    }

    /**
     * Writes the response of a status that is not 0.
     *
     * @param message for the user; cut to the limit
     * @param hint what the user can do; may be empty
     * @return bytes written
     */
    public int failure(ByteBuffer slab, int offset, int room, String message, String hint) {
        wrap(slab, offset, room);
        putBytes(cut(message));
        putBytes(cut(hint));
        return length();
    }

    private static byte[] cut(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= ResponseLayout.MESSAGE_LIMIT) {
            return bytes;
        }
        int length = ResponseLayout.MESSAGE_LIMIT;
        // Never between the bytes of one code point.
        while ((bytes[length] & 0xc0) == 0x80) {
            length--;
        }
        return Arrays.copyOf(bytes, length);
    }

    private void reserve(long length) {
        if (length > limit - position && !grow(length() + length)) {
            throw new ContractException(
                    ErrorCode.PAYLOAD_TOO_LARGE,
                    "response does not fit: length=" + (position - base + length) + ", limitLength=" + (limit - base));
        }
    }

    private boolean grow(long neededLength) {
        int usedLength = length();
        ByteBuffer grown = overflow.grow(buffer.duplicate().limit(position).position(base), neededLength);
        if (grown == null) {
            return false;
        }
        wrap(grown, 0, grown.limit());
        position = usedLength;
        return true;
    }

    private void putVector(double[] values, int offset, int count) {
        reserve(Integer.BYTES + (long) count * Double.BYTES);
        putInt(count);
        for (int index = 0; index < count; index++) {
            putDouble(values[offset + index]);
        }
    }

    private void putBytes(byte[] value) {
        reserve(Integer.BYTES + (long) value.length);
        putInt(value.length);
        buffer.put(position, value);
        position += value.length;
    }

    private void putInt(int value) {
        buffer.putInt(position, value);
        position += Integer.BYTES;
    }

    private void putDouble(double value) {
        buffer.putDouble(position, value);
        position += Double.BYTES;
    }
}
