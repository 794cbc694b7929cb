package io.millrace.contract.matrix;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Writes a matrix directory, row after row. The manifest is written by {@link #finish}, after everything else is on the
 * disk: a writer that dies before leaves a directory nobody opens. Threads: one.
 */
public final class MatrixWriter implements AutoCloseable {
    private final Path directory;
    private final int width;
    private final long fingerprint;
    private final ChecksumFile features;
    private final ChecksumFile labels;
    private final ChecksumFile keys;
    private long rowCount;
    private boolean finished;

    private MatrixWriter(Path directory, int width, long fingerprint) throws IOException {
        this.directory = directory;
        this.width = width;
        this.fingerprint = fingerprint;
        features = new ChecksumFile(directory.resolve(MatrixLayout.FEATURES));
        labels = new ChecksumFile(directory.resolve(MatrixLayout.LABELS));
        keys = new ChecksumFile(directory.resolve(MatrixLayout.KEYS));
    }

    /**
     * Begins a matrix; what was in the directory is replaced.
     *
     * @param directory made when it is not there
     * @param width features of one row
     * @param fingerprint of the schema of the inputs
     * @throws ContractException {@link ErrorCode#IO_FAILED} if the disk refuses
     */
    public static MatrixWriter create(Path directory, int width, long fingerprint) {
        if (width < 1 || width > ModelManifest.WIDTH_LIMIT) {
            throw new ContractException(
                    ErrorCode.INTERNAL,
                    "matrix width is out of range: width=" + width + ", min=1, max=" + ModelManifest.WIDTH_LIMIT);
        }
        try {
            Files.createDirectories(directory);
            Files.deleteIfExists(directory.resolve(MatrixLayout.MANIFEST));
            return new MatrixWriter(directory, width, fingerprint);
        } catch (IOException failure) {
            throw failed(directory, failure);
        }
    }

    /**
     * Writes one more row.
     *
     * @param row its first {@code width} values
     * @param label class index or value
     * @param key of the source row, as text; may be empty
     * @throws ContractException {@link ErrorCode#IO_FAILED} if the disk refuses
     */
    public void append(float[] row, float label, String key) {
        append(row, 0, label, key);
    }

    /** The same for a row that starts at an offset. */
    public void append(float[] row, int offset, float label, String key) {
        try {
            for (int index = 0; index < width; index++) {
                features.putFloat(row[offset + index]);
            }
            labels.putFloat(label);
            byte[] text = key.getBytes(StandardCharsets.UTF_8);
            keys.putInt(text.length);
            keys.put(text);
            rowCount++;
        } catch (IOException failure) {
            throw failed(directory, failure);
        }
    }

    /** Rows written so far. */
    public long rowCount() {
        return rowCount;
    }

    /** Bytes a matrix of this shape takes on the disk, keys not counted. */
    public static long estimatedBytes(long rowCount, int width) {
        return Math.multiplyExact(rowCount, (width + 1L) * Float.BYTES) + MatrixLayout.HEADER_LENGTH;
    }

    /**
     * Completes the matrix; {@link MatrixFile#open} accepts it from here on.
     *
     * @throws ContractException {@link ErrorCode#IO_FAILED} if the disk refuses
     */
    public void finish() {
        try (ChecksumFile header = new ChecksumFile(directory.resolve(MatrixLayout.HEADER))) {
            header.put(new MatrixHeader(width, rowCount, fingerprint).encode());
            header.sync();
            features.sync();
            labels.sync();
            keys.sync();
            MatrixManifest manifest = new MatrixManifest(List.of(
                    entry(MatrixLayout.HEADER, header),
                    entry(MatrixLayout.FEATURES, features),
                    entry(MatrixLayout.LABELS, labels),
                    entry(MatrixLayout.KEYS, keys)));
            Path partial = directory.resolve(MatrixLayout.MANIFEST + ".partial");
            try (ChecksumFile out = new ChecksumFile(partial)) {
                out.put(manifest.toJson());
                out.sync();
            }
            Files.move(partial, directory.resolve(MatrixLayout.MANIFEST), StandardCopyOption.ATOMIC_MOVE);
            syncDirectory();
            finished = true;
        } catch (IOException failure) {
            throw failed(directory, failure);
        }
    }

    private static MatrixManifest.FileEntry entry(String name, ChecksumFile file) {
        return new MatrixManifest.FileEntry(name, file.bytes(), file.checksum());
    }

    private void syncDirectory() throws IOException {
        // Without it the rename itself may be lost with the power.
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Whether {@link #finish} was called and returned. */
    public boolean isFinished() {
        return finished;
    }

    /** Closes the files; without {@link #finish} before, the matrix stays incomplete. */
    @Override
    public void close() {
        try (features;
                labels;
                keys) {
            // Closing is all.
        } catch (IOException failure) {
            throw failed(directory, failure);
        }
    }

    private static ContractException failed(Path directory, IOException failure) {
        return new ContractException(ErrorCode.IO_FAILED, "matrix cannot be written: directory=" + directory, failure);
    }
}
