package io.millrace.contract.layout;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The hello a gateway sends on every accepted doorbell connection; all later bytes, both ways, mean only "look".
 *
 * <pre>
 *   0        4        8        12       16
 *  +--------+--------+--------+--------+
 *  | magic  | version| conn id| gen low|
 *  +--------+--------+--------+--------+
 * </pre>
 *
 * @param connectionId not 0; the backend writes it into every slot it submits
 * @param generationLow low 32 bits of the region's generation
 */
public record DoorbellLayout(int connectionId, int generationLow) {
    /** Bytes of the hello. */
    public static final int LENGTH = 16;

    /** u32. */
    public static final int MAGIC = 0x4d4c5257;

    public static final int MAGIC_OFFSET = 0;
    public static final int VERSION_OFFSET = 4;
    public static final int CONNECTION_ID_OFFSET = 8;
    public static final int GENERATION_LOW_OFFSET = 12;

    /** The one byte that rings. */
    public static final byte RING = 1;

    /** The hello's bytes. */
    public byte[] encode() {
        ByteBuffer hello = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        hello.putInt(MAGIC_OFFSET, MAGIC);
        hello.putInt(VERSION_OFFSET, ControlLayout.VERSION);
        hello.putInt(CONNECTION_ID_OFFSET, connectionId);
        hello.putInt(GENERATION_LOW_OFFSET, generationLow);
        return hello.array();
    }

    /**
     * Reads a hello.
     *
     * @param bytes as received
     * @throws ContractException {@link ErrorCode#CORRUPT_LAYOUT} if the length or the magic is wrong, {@link
     *     ErrorCode#UNKNOWN_VERSION} if the version is not {@link ControlLayout#VERSION}
     */
    public static DoorbellLayout decode(byte[] bytes) {
        if (bytes.length != LENGTH) {
            throw new ContractException(
                    ErrorCode.CORRUPT_LAYOUT,
                    "hello length is wrong: length=" + bytes.length + ", expectedLength=" + LENGTH);
        }
        ByteBuffer hello = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (hello.getInt(MAGIC_OFFSET) != MAGIC) {
            throw new ContractException(
                    ErrorCode.CORRUPT_LAYOUT,
                    "hello magic is wrong: magic=0x" + Integer.toHexString(hello.getInt(MAGIC_OFFSET)));
        }
        int version = hello.getInt(VERSION_OFFSET);
        if (version != ControlLayout.VERSION) {
            throw new ContractException(
                    ErrorCode.UNKNOWN_VERSION,
                    "layout version is unknown: version=" + Integer.toUnsignedString(version) + ", expectedVersion="
                            + ControlLayout.VERSION);
        }
        return new DoorbellLayout(hello.getInt(CONNECTION_ID_OFFSET), hello.getInt(GENERATION_LOW_OFFSET));
    }
}
