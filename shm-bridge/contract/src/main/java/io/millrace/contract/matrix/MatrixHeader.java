package io.millrace.contract.matrix;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The shape of a matrix; {@link MatrixLayout} has the diagram.
 *
 * @param width features of one row
 * @param rowCount rows
 * @param fingerprint of the schema of the inputs
 */
record MatrixHeader(int width, long rowCount, long fingerprint) {
    byte[] encode() {
        ByteBuffer header = ByteBuffer.allocate(MatrixLayout.HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(MatrixLayout.MAGIC_OFFSET, MatrixLayout.MAGIC);
        header.putInt(MatrixLayout.VERSION_OFFSET, MatrixLayout.VERSION);
        header.putInt(MatrixLayout.WIDTH_OFFSET, width);
        header.putLong(MatrixLayout.ROW_COUNT_OFFSET, rowCount);
        header.putLong(MatrixLayout.FINGERPRINT_OFFSET, fingerprint);
        header.putInt(MatrixLayout.CRC_OFFSET, checksum(header));
        return header.array();
    }

    /**
     * Reads the file's bytes.
     *
     * @throws ContractException {@link ErrorCode#UNKNOWN_VERSION} if another version wrote it, {@link
     *     ErrorCode#CORRUPT_MATRIX} if anything else is wrong
     */
    static MatrixHeader decode(byte[] bytes) {
        if (bytes.length != MatrixLayout.HEADER_LENGTH) {
            throw corrupt("matrix header has the wrong size: bytes=" + bytes.length + ", expectedBytes="
                    + MatrixLayout.HEADER_LENGTH);
        }
        ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (header.getLong(MatrixLayout.MAGIC_OFFSET) != MatrixLayout.MAGIC) {
            throw corrupt("matrix magic is wrong: magic=0x" + Long.toHexString(header.getLong(0)));
        }
        checkVersion(Integer.toUnsignedLong(header.getInt(MatrixLayout.VERSION_OFFSET)));
        if (checksum(header) != header.getInt(MatrixLayout.CRC_OFFSET)) {
            throw corrupt("matrix header checksum is wrong: checksum=0x"
                    + Integer.toHexString(header.getInt(MatrixLayout.CRC_OFFSET)) + ", computed=0x"
                    + Integer.toHexString(checksum(header)));
        }
        int width = header.getInt(MatrixLayout.WIDTH_OFFSET);
        long rowCount = header.getLong(MatrixLayout.ROW_COUNT_OFFSET);
        // The bound on rows keeps every product of rows, width and bytes inside a long.
        if (width < 1 || width > ModelManifest.WIDTH_LIMIT || rowCount < 0 || rowCount > Long.MAX_VALUE >>> 24) {
            throw corrupt("matrix shape is out of range: rows=" + rowCount + ", width=" + width);
        }
        return new MatrixHeader(width, rowCount, header.getLong(MatrixLayout.FINGERPRINT_OFFSET));
    }

    static void checkVersion(long version) {
        if (version != MatrixLayout.VERSION) {
            throw new ContractException(
                    ErrorCode.UNKNOWN_VERSION,
                    "matrix version is unknown: version=" + version + ", expectedVersion=" + MatrixLayout.VERSION);
        }
    }

    private static int checksum(ByteBuffer header) {
        CRC32C crc = new CRC32C();
        crc.update(header.duplicate().position(0).limit(MatrixLayout.CRC_OFFSET));
        return (int) crc.getValue();
    }

    private static ContractException corrupt(String message) {
        return new ContractException(ErrorCode.CORRUPT_MATRIX, message);
    }
}
