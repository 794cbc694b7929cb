package io.millrace.contract.matrix;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A complete matrix, mapped for reading.
 *
 * <p>One mapping holds at most 2 GiB, so the rows are mapped in segments, each a little longer than its distance to the
 * next: any block up to {@link #blockLimitRows} lies in one of them and is given without a copy. The mappings are
 * backed by the file, so the kernel drops their pages when it needs memory. They end when the buffers are unreachable,
 * never under a reader. Threads: any; buffers given out are views of their own.
 */
public final class MatrixFile implements AutoCloseable {
    private static final long SEGMENT_BYTES = 1L << 30;
    private static final int SMALL_FILE_LIMIT_BYTES = 65_536;
    private static final int KEY_LIMIT_BYTES = 1 << 20;

    private final Path directory;
    private final MatrixManifest manifest;
    private final MatrixHeader header;
    private final Segments features;
    private final Segments labels;

    private MatrixFile(Path directory, long segmentBytes) throws IOException {
        this.directory = directory;
        manifest = MatrixManifest.parse(read(directory, MatrixLayout.MANIFEST));
        header = MatrixHeader.decode(read(directory, MatrixLayout.HEADER));
        checkSizes();
        long rows = header.rowCount();
        features = new Segments(
                directory.resolve(MatrixLayout.FEATURES), rows, header.width() * Float.BYTES, segmentBytes);
        labels = new Segments(directory.resolve(MatrixLayout.LABELS), rows, Float.BYTES, segmentBytes);
    }

    /**
     * Opens a matrix.
     *
     * @throws ContractException {@link ErrorCode#CORRUPT_MATRIX} if it is not complete or its sizes do not fit, {@link
     *     ErrorCode#UNKNOWN_VERSION} if another version wrote it; the content is checked by {@link #verify}
     */
    public static MatrixFile open(Path directory) {
        return open(directory, SEGMENT_BYTES);
    }

    static MatrixFile open(Path directory, long segmentBytes) {
        try {
            return new MatrixFile(directory, segmentBytes);
        } catch (IOException failure) {
            throw new ContractException(
                    ErrorCode.CORRUPT_MATRIX, "matrix cannot be read: directory=" + directory, failure);
        }
    }

    /** Whether a directory holds a finished matrix; it may still be damaged. */
    public static boolean isComplete(Path directory) {
        return Files.isRegularFile(directory.resolve(MatrixLayout.MANIFEST));
    }

    private static byte[] read(Path directory, String name) throws IOException {
        Path file = directory.resolve(name);
        if (!Files.isRegularFile(file)) {
            throw corrupt("matrix is not complete: directory=" + directory + ", missingFile=" + name);
        }
        if (Files.size(file) > SMALL_FILE_LIMIT_BYTES) {
            throw corrupt("matrix file is too large: file=" + file + ", bytes=" + Files.size(file) + ", limitBytes="
                    + SMALL_FILE_LIMIT_BYTES);
        }
        return Files.readAllBytes(file);
    }

    private void checkSizes() throws IOException {
        checkSize(MatrixLayout.HEADER, MatrixLayout.HEADER_LENGTH);
        checkSize(MatrixLayout.FEATURES, rowCount() * width() * Float.BYTES);
        checkSize(MatrixLayout.LABELS, rowCount() * Float.BYTES);
        checkSize(MatrixLayout.KEYS, manifest.file(MatrixLayout.KEYS).bytes());
    }

    private void checkSize(String name, long expected) throws IOException {
        Path file = directory.resolve(name);
        long actual = Files.isRegularFile(file) ? Files.size(file) : -1;
        if (manifest.file(name).bytes() != expected || actual != expected) {
            throw corrupt("matrix file has the wrong size: file=" + file + ", bytes=" + actual + ", manifestBytes="
                    + manifest.file(name).bytes() + ", expectedBytes=" + expected);
        }
    }

    /**
     * Reads every file and compares its checksum with the manifest's.
     *
     * @throws ContractException {@link ErrorCode#CORRUPT_MATRIX} naming the file that differs
     */
    public void verify() {
        for (String name :
                new String[] {MatrixLayout.HEADER, MatrixLayout.FEATURES, MatrixLayout.LABELS, MatrixLayout.KEYS}) {
            Path file = directory.resolve(name);
            int checksum;
            try {
                checksum = checksum(file);
            } catch (IOException failure) {
                throw new ContractException(
                        ErrorCode.CORRUPT_MATRIX, "matrix cannot be read: directory=" + directory, failure);
            }
            if (checksum != manifest.file(name).checksum()) {
                throw corrupt("matrix file checksum is wrong: file=" + file + ", checksum=0x"
                        + Integer.toHexString(checksum) + ", expected=0x"
                        + Integer.toHexString(manifest.file(name).checksum()));
            }
        }
    }

    private static int checksum(Path file) throws IOException {
        CRC32C crc = new CRC32C();
        byte[] chunk = new byte[1 << 16];
        try (InputStream in = Files.newInputStream(file)) {
            for (int length = in.read(chunk); length >= 0; length = in.read(chunk)) {
                crc.update(chunk, 0, length);
            }
        }
        return (int) crc.getValue();
    }

    /** Rows. */
    public long rowCount() {
        return header.rowCount();
    }

    /** Features of one row. */
    public int width() {
        return header.width();
    }

    /** Of the schema of the inputs. */
    public long fingerprint() {
        return header.fingerprint();
    }

    /** Where it is. */
    public Path directory() {
        return directory;
    }

    /** Most rows of one {@link #block}; at least 1. */
    public int blockLimitRows() {
        return features.overlapRows;
    }

    /**
     * Rows next to each other, in the file's own pages.
     *
     * @param firstRow {@code 0 <= firstRow <= rowCount() - rows}
     * @param rows {@code 0 <= rows <= blockLimitRows()}
     * @return {@code rows x width} float32, row-major, little-endian, read-only, direct, from position 0 to limit
     */
    public ByteBuffer block(long firstRow, int rows) {
        return features.slice(firstRow, rows);
    }

    /** Labels of rows next to each other, as {@link #block}. */
    public ByteBuffer labels(long firstRow, int rows) {
        return labels.slice(firstRow, rows);
    }

    /**
     * Label of one row.
     *
     * @param row {@code 0 <= row < rowCount()}
     */
    public float label(long row) {
        return labels.slice(row, 1).getFloat(0);
    }

    /** Copies one row to {@code out}. */
    public void row(long row, float[] out) {
        features.slice(row, 1).asFloatBuffer().get(out, 0, width());
    }

    /** The keys in the order of rows, read from the file as they are asked for. Close it. */
    public Keys keys() {
        try {
            return new Keys(
                    new DataInputStream(new BufferedInputStream(
                            Files.newInputStream(directory.resolve(MatrixLayout.KEYS)), 1 << 16)),
                    rowCount());
        } catch (IOException failure) {
            throw new ContractException(
                    ErrorCode.CORRUPT_MATRIX, "matrix cannot be read: directory=" + directory, failure);
        }
    }

    /** Forgets the mappings; buffers given out stay valid. */
    @Override
    public void close() {
        features.close();
        labels.close();
    }

    private static ContractException corrupt(String message) {
        return new ContractException(ErrorCode.CORRUPT_MATRIX, message);
    }

    /** An iterator over the keys. Threads: one. */
    public static final class Keys implements Iterator<String>, AutoCloseable {
        private final DataInputStream in;
        private long left;

        private Keys(DataInputStream in, long count) {
            this.in = in;
            left = count;
        }

        @Override
        public boolean hasNext() {
            return left > 0;
        }

        @Override
        public String next() {
            if (left == 0) {
                throw new NoSuchElementException();
            }
            left--;
            try {
                int length = Integer.reverseBytes(in.readInt());
                if (length < 0 || length > KEY_LIMIT_BYTES) {
                    throw corrupt("matrix key is too long: length=" + length + ", limitLength=" + KEY_LIMIT_BYTES);
                }
                byte[] key = in.readNBytes(length);
                if (key.length != length) {
                    throw corrupt("matrix keys are truncated: length=" + key.length + ", expectedLength=" + length);
                }
                return new String(key, StandardCharsets.UTF_8);
            } catch (IOException failure) {
                throw new ContractException(
                        ErrorCode.CORRUPT_MATRIX, "matrix keys are truncated: left=" + left, failure);
            }
        }

        @Override
        public void close() {
            try {
                in.close();
            } catch (IOException failure) {
                throw new ContractException(ErrorCode.IO_FAILED, "matrix keys cannot be closed", failure);
            }
        }
    }

    /** One file mapped in overlapping segments. */
    private static final class Segments {
        private final int rowBytes;
        private final long rowCount;
        private final long strideRows;
        private final int overlapRows;
        private volatile MappedByteBuffer @Nullable [] maps;

        Segments(Path file, long rowCount, int rowBytes, long segmentBytes) throws IOException {
            this.rowBytes = rowBytes;
            this.rowCount = rowCount;
            strideRows = Math.max(1, segmentBytes / 2 / rowBytes);
            overlapRows = (int) strideRows;
            int count = Math.toIntExact((rowCount + strideRows - 1) / strideRows);
            MappedByteBuffer[] mapped = new MappedByteBuffer[count];
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                for (int index = 0; index < count; index++) {
                    long first = index * strideRows;
                    long rows = Math.min(rowCount - first, strideRows + overlapRows);
                    mapped[index] = channel.map(FileChannel.MapMode.READ_ONLY, first * rowBytes, rows * rowBytes);
                }
            }
            maps = mapped;
        }

        ByteBuffer slice(long firstRow, int rows) {
            if (firstRow < 0 || rows < 0 || rows > overlapRows || firstRow > rowCount - rows) {
                throw new IndexOutOfBoundsException("block must be inside the matrix: firstRow=" + firstRow + ", rows="
                        + rows + ", rowCount=" + rowCount + ", limitRows=" + overlapRows);
            }
            MappedByteBuffer[] mapped = maps;
            if (mapped == null) {
                throw new IllegalStateException("matrix is closed");
            }
            if (rows == 0) {
                return ByteBuffer.allocateDirect(0).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
            }
            int index = (int) (firstRow / strideRows);
            int offset = (int) (firstRow - index * strideRows) * rowBytes;
            return mapped[index].slice(offset, rows * rowBytes).order(ByteOrder.LITTLE_ENDIAN);
        }

        void close() {
            maps = null;
        }
    }
}
