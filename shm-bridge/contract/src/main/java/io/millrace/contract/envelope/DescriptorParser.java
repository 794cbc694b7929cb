package io.millrace.contract.envelope;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.Fnv1a;
import io.millrace.contract.layout.RequestLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The columns of the rows of a request: u16 count, then per column u8 type tag, u16 name length, name UTF-8. Sent once
 * per connection and then known by its hash.
 */
public final class DescriptorParser {
    private static final int COUNT_LENGTH = 2;
    private static final int COLUMN_HEADER_LENGTH = 3;

    private DescriptorParser() {}

    /**
     * Reads a descriptor.
     *
     * @param buffer little-endian
     * @param offset absolute
     * @param length all of it must be used
     * @throws io.millrace.contract.ContractException {@link io.millrace.contract.ErrorCode#INVALID_ENVELOPE} if it is
     *     malformed
     */
    public static List<Column> parse(ByteBuffer buffer, int offset, int length) {
        // A copy: the other process can write the slab while names are read.
        byte[] bytes = new byte[length];
        buffer.get(offset, bytes);
        ByteBuffer descriptor = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        Invalid.checkRemaining("descriptor", COUNT_LENGTH, 0, length);
        int count = Short.toUnsignedInt(descriptor.getShort());
        if (count > RequestLayout.COLUMN_LIMIT) {
            throw Invalid.envelope(
                    "descriptor has too many columns: count=" + count + ", limit=" + RequestLayout.COLUMN_LIMIT);
        }
        List<Column> columns = new ArrayList<>(Math.min(count, length / COLUMN_HEADER_LENGTH));
        for (int index = 0; index < count; index++) {
            Invalid.checkRemaining("descriptor", COLUMN_HEADER_LENGTH, descriptor.position(), length);
            ColumnType type = ColumnType.ofTag(Byte.toUnsignedInt(descriptor.get()));
            int nameLength = Short.toUnsignedInt(descriptor.getShort());
            if (nameLength > RequestLayout.NAME_LIMIT) {
                throw Invalid.envelope("descriptor name is too long: column=" + index + ", length=" + nameLength
                        + ", limitLength=" + RequestLayout.NAME_LIMIT);
            }
            Invalid.checkRemaining("descriptor", nameLength, descriptor.position(), length);
            columns.add(new Column(name(descriptor, nameLength, index), type, true));
        }
        if (descriptor.hasRemaining()) {
            throw Invalid.envelope(
                    "descriptor has bytes after its columns: count=" + count + ", remaining=" + descriptor.remaining());
        }
        return List.copyOf(columns);
    }

    private static String name(ByteBuffer descriptor, int length, int index) {
        ByteBuffer name = descriptor.slice(descriptor.position(), length);
        descriptor.position(descriptor.position() + length);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(name).toString();
        } catch (CharacterCodingException malformed) {
            throw Invalid.envelope("descriptor name is not UTF-8: column=" + index + ", length=" + length);
        }
    }

    /** The bytes of a descriptor; {@link #parse} reads them back, all columns nullable. */
    public static byte[] encode(List<Column> columns) {
        int length = COUNT_LENGTH;
        for (Column column : columns) {
            length += COLUMN_HEADER_LENGTH + column.name().getBytes(StandardCharsets.UTF_8).length;
        }
        ByteBuffer descriptor = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        descriptor.putShort((short) columns.size());
        for (Column column : columns) {
            byte[] name = column.name().getBytes(StandardCharsets.UTF_8);
            descriptor.put((byte) column.type().tag()).putShort((short) name.length);
            descriptor.put(name);
        }
        return descriptor.array();
    }

    /** The hash by which a descriptor is known: FNV-1a 64 of its bytes. */
    public static long hash(byte[] descriptor) {
        return Fnv1a.update(Fnv1a.start(), descriptor);
    }
}
