package io.millrace.contract.envelope;

import io.millrace.contract.Column;
import io.millrace.contract.Fnv1a;
import io.millrace.contract.layout.RequestLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * A view of a request's bytes; see {@link RequestLayout} for the diagram. {@link #wrap} reads and checks the header
 * once; the parts stay where they are. Reusable. Threads: one.
 */
public final class RequestEnvelope {
    private ByteBuffer buffer = ByteBuffer.allocate(0);
    private int rowCount;
    private long descriptorHash;
    private int descriptorOffset;
    private int descriptorLength;
    private int referenceLength;
    private int rowsLength;
    private boolean bulk;
    private long tenantKey;
    private long limits;

    /**
     * Looks at a request.
     *
     * @param slab little-endian
     * @param base absolute offset of the request, {@code 0 <= base <= slab.capacity()}
     * @param length bytes of the request; all of them must be used
     * @return this
     * @throws io.millrace.contract.ContractException {@link io.millrace.contract.ErrorCode#UNKNOWN_VERSION} or {@link
     *     io.millrace.contract.ErrorCode#INVALID_ENVELOPE} if the header is malformed
     */
    public RequestEnvelope wrap(ByteBuffer slab, int base, int length) {
        assert slab.order() == ByteOrder.LITTLE_ENDIAN : slab.order();
        Invalid.checkRemaining("request", length, base, slab.limit());
        Invalid.checkRemaining("request", RequestLayout.HEADER_LENGTH, 0, length);
        Invalid.checkVersion("request", Short.toUnsignedInt(slab.getShort(base + RequestLayout.VERSION_OFFSET)));
        int flags = Short.toUnsignedInt(slab.getShort(base + RequestLayout.FLAGS_OFFSET));
        int reserved = slab.getInt(base + RequestLayout.RESERVED_OFFSET);
        if ((flags & ~RequestLayout.FLAG_BULK) != 0 || reserved != 0) {
            throw Invalid.envelope("request flags must be known: flags=" + flags + ", reserved=" + reserved);
        }
        buffer = slab;
        bulk = flags != 0;
        tenantKey = slab.getLong(base + RequestLayout.TENANT_KEY_OFFSET);
        limits = slab.getLong(base + RequestLayout.LIMITS_OFFSET);
        rowCount = slab.getInt(base + RequestLayout.ROW_COUNT_OFFSET);
        descriptorHash = slab.getLong(base + RequestLayout.DESCRIPTOR_HASH_OFFSET);
        descriptorOffset = base + RequestLayout.HEADER_LENGTH;
        descriptorLength = slab.getInt(base + RequestLayout.DESCRIPTOR_LENGTH_OFFSET);
        referenceLength = slab.getInt(base + RequestLayout.MODEL_REFERENCE_LENGTH_OFFSET);
        rowsLength = slab.getInt(base + RequestLayout.ROWS_LENGTH_OFFSET);
        if (rowCount < 0 || rowCount > RequestLayout.ROW_LIMIT) {
            throw Invalid.envelope("request has too many rows: rows=" + Integer.toUnsignedString(rowCount) + ", limit="
                    + RequestLayout.ROW_LIMIT);
        }
        if (referenceLength > RequestLayout.MODEL_REFERENCE_LIMIT) {
            throw Invalid.envelope("model reference is too long: length=" + referenceLength + ", limitLength="
                    + RequestLayout.MODEL_REFERENCE_LIMIT);
        }
        checkLengths(length - RequestLayout.HEADER_LENGTH);
        return this;
    }

    private void checkLengths(int available) {
        boolean fits = descriptorLength >= 0
                && referenceLength >= 0
                && rowsLength >= 0
                && (long) descriptorLength + referenceLength + rowsLength == available;
        if (!fits) {
            throw Invalid.envelope("request lengths do not add up: descriptorLength="
                    + Integer.toUnsignedString(descriptorLength)
                    + ", modelReferenceLength=" + Integer.toUnsignedString(referenceLength) + ", rowsLength="
                    + Integer.toUnsignedString(rowsLength) + ", available=" + available);
        }
    }

    /** How many rows the rows area holds. */
    public int rowCount() {
        return rowCount;
    }

    /** Whether it is part of a large job. */
    public boolean isBulk() {
        return bulk;
    }

    /** Who asks: a project of a database of a cluster. */
    public long tenantKey() {
        return tenantKey;
    }

    /** The name of the project's limits; see {@link RequestLimits#fingerprint}. */
    public long limits() {
        return limits;
    }

    /** By which the rows' descriptor is known, sent or not. */
    public long descriptorHash() {
        return descriptorHash;
    }

    /** Whether the descriptor was sent. */
    public boolean hasDescriptor() {
        return descriptorLength > 0;
    }

    /**
     * The columns of the rows.
     *
     * @throws io.millrace.contract.ContractException {@link io.millrace.contract.ErrorCode#INVALID_ENVELOPE} if the
     *     descriptor is malformed or has another hash than the header says
     */
    public List<Column> descriptor() {
        long hash = Fnv1a.of(buffer, descriptorOffset, descriptorLength);
        if (hash != descriptorHash) {
            throw Invalid.envelope("descriptor hash is wrong: hash=0x" + Long.toHexString(descriptorHash)
                    + ", computed=0x" + Long.toHexString(hash));
        }
        return DescriptorParser.parse(buffer, descriptorOffset, descriptorLength);
    }

    /** Whether the model reference was sent. */
    public boolean hasModelReference() {
        return referenceLength > 0;
    }

    /**
     * Where the model is.
     *
     * @throws io.millrace.contract.ContractException {@link io.millrace.contract.ErrorCode#INVALID_ENVELOPE} if it is
     *     malformed
     */
    public ModelReference modelReference() {
        byte[] document = new byte[referenceLength];
        buffer.get(descriptorOffset + descriptorLength, document);
        return ModelReference.parse(document);
    }

    /** The buffer the offsets are of. */
    public ByteBuffer buffer() {
        return buffer;
    }

    /** Absolute offset of the first row, or of the free bytes of a request without rows. */
    public int rowsOffset() {
        return descriptorOffset + descriptorLength + referenceLength;
    }

    /** Bytes of the rows area. */
    public int rowsLength() {
        return rowsLength;
    }

    /** Bytes of a request with parts of these lengths. */
    public static long encodedLength(int descriptorLength, int modelReferenceLength, int rowsLength) {
        return (long) RequestLayout.HEADER_LENGTH + descriptorLength + modelReferenceLength + rowsLength;
    }

    /**
     * Writes a request whose asker has no limits; {@link #encodeTenant} says otherwise.
     *
     * @param slab little-endian, with room for {@link #encodedLength}
     * @param base absolute offset
     * @param descriptorHash of the descriptor, sent or not
     * @param descriptor empty when it is not sent
     * @param modelReference empty when it is not sent
     * @param rows as {@link RowEncoder} writes them
     * @return bytes written
     */
    public static int encode(
            ByteBuffer slab,
            int base,
            int rowCount,
            long descriptorHash,
            byte[] descriptor,
            byte[] modelReference,
            ByteBuffer rows) {
        int rowsLength = rows.remaining();
        slab.putShort(base + RequestLayout.VERSION_OFFSET, (short) RequestLayout.VERSION);
        slab.putInt(base + RequestLayout.ROW_COUNT_OFFSET, rowCount);
        slab.putLong(base + RequestLayout.DESCRIPTOR_HASH_OFFSET, descriptorHash);
        slab.putInt(base + RequestLayout.DESCRIPTOR_LENGTH_OFFSET, descriptor.length);
        slab.putInt(base + RequestLayout.MODEL_REFERENCE_LENGTH_OFFSET, modelReference.length);
        slab.putInt(base + RequestLayout.ROWS_LENGTH_OFFSET, rowsLength);
        slab.putInt(base + RequestLayout.RESERVED_OFFSET, 0);
        encodeTenant(slab, base, false, 0, 0);
        int offset = base + RequestLayout.HEADER_LENGTH;
        slab.put(offset, descriptor);
        offset += descriptor.length;
        slab.put(offset, modelReference);
        offset += modelReference.length;
        slab.put(offset, rows, rows.position(), rowsLength);
        return offset + rowsLength - base;
    }

    /**
     * Writes into a request who asks.
     *
     * @param bulk whether it is part of a large job
     * @param tenantKey see {@link RequestLayout#TENANT_KEY_OFFSET}
     * @param limits see {@link RequestLimits#fingerprint}
     */
    public static void encodeTenant(ByteBuffer slab, int base, boolean bulk, long tenantKey, long limits) {
        slab.putShort(base + RequestLayout.FLAGS_OFFSET, (short) (bulk ? RequestLayout.FLAG_BULK : 0));
        slab.putLong(base + RequestLayout.TENANT_KEY_OFFSET, tenantKey);
        slab.putLong(base + RequestLayout.LIMITS_OFFSET, limits);
    }
}
