package io.millrace.gateway.http;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.TextLevels;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Values of a binary tensor, read where they lie in the body: little-endian, row-major, without padding. There is no NULL
 * in it; a NaN is what a model takes for a missing number.
 */
final class BinaryValues extends TensorValues {
    private static final int[] NO_OFFSETS = new int[0];

    private final Datatype datatype;
    private final ByteBuffer body;
    private final int offset;
    /** Of each text's length; empty for other datatypes. */
    private final int[] textOffsets;

    private BinaryValues(Datatype datatype, ByteBuffer body, int offset, int[] textOffsets) {
        this.datatype = datatype;
        this.body = body;
        this.offset = offset;
        this.textOffsets = textOffsets;
    }

    /**
     * A view of a part of the body.
     *
     * @param body little-endian
     * @param offset of the first value
     * @param length bytes of all values, inside the body
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} if they are not {@code count} values
     */
    static BinaryValues of(
            String input,
            Datatype datatype,
            ByteBuffer body,
            int offset,
            int length,
            int count,
            Capacity.Ticket memory) {
        if (datatype == Datatype.BYTES) {
            memory.take((long) count * Integer.BYTES);
            return new BinaryValues(datatype, body, offset, textOffsets(input, body, offset, length, count));
        }
        long expectedLength = (long) count * datatype.length();
        if (length != expectedLength) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "binary data must fit its shape: input=" + input + ", datatype=" + datatype + ", binary_data_size="
                            + length + ", expectedSize=" + expectedLength);
        }
        BinaryValues values = new BinaryValues(datatype, body, offset, NO_OFFSETS);
        if (datatype == Datatype.UINT64) {
            values.checkSigned(input, count);
        }
        return values;
    }

    private static int[] textOffsets(String input, ByteBuffer body, int offset, int length, int count) {
        int[] offsets = new int[count];
        int end = offset + length;
        int at = offset;
        for (int index = 0; index < count; index++) {
            int left = end - at - Integer.BYTES;
            if (left < 0 || body.getInt(at) < 0 || body.getInt(at) > left) {
                throw new ContractException(
                        ErrorCode.INVALID_VALUE,
                        "binary text must end inside its data: input=" + input + ", index=" + index
                                + ", binary_data_size=" + length);
            }
            offsets[index] = at;
            at += Integer.BYTES + body.getInt(at);
        }
        if (at != end) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "binary data must fit its shape: input=" + input + ", datatype=BYTES, binary_data_size=" + length
                            + ", expectedSize=" + (at - offset));
        }
        return offsets;
    }

    private void checkSigned(String input, int count) {
        for (int index = 0; index < count; index++) {
            if (int64(index) < 0) {
                throw new ContractException(
                        ErrorCode.INVALID_VALUE,
                        "input value must be a whole number: input=" + input + ", datatype=UINT64, index=" + index
                                + ", min=0, max=" + Long.MAX_VALUE);
            }
        }
    }

    @Override
    boolean isNull(int index) {
        return false;
    }

    @Override
    boolean booleanValue(int index) {
        return body.get(offset + index) != 0;
    }

    @Override
    long int64(int index) {
        int at = offset + index * datatype.length();
        return switch (datatype) {
            case INT8 -> body.get(at);
            case UINT8 -> body.get(at) & 0xff;
            case INT16 -> body.getShort(at);
            case UINT16 -> body.getShort(at) & 0xffff;
            case INT32 -> body.getInt(at);
            case UINT32 -> body.getInt(at) & 0xffff_ffffL;
            default -> body.getLong(at);
        };
    }

    @Override
    double float64(int index) {
        int at = offset + index * datatype.length();
        return datatype == Datatype.FP32 ? body.getFloat(at) : body.getDouble(at);
    }

    @Override
    String text(int index) {
        int at = textOffsets[index];
        byte[] bytes = new byte[body.getInt(at)];
        body.get(at + Integer.BYTES, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @Override
    int level(int index, TextLevels levels) {
        int at = textOffsets[index];
        return levels.indexOf(body, at + Integer.BYTES, body.getInt(at));
    }
}
