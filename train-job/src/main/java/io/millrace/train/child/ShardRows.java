package io.millrace.train.child;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import io.millrace.contract.matrix.MatrixFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a part's shards, front to back, in blocks that lie in the files' own pages. The pages of a block are given
 * back to the kernel when the next one is asked for, so reading takes no more memory than a block, whatever the size.
 *
 * <p>One thread.
 */
final class ShardRows implements AutoCloseable {
    private static final int BLOCK_BYTES = 24 << 20;
    private static final int BLOCK_ROWS_LIMIT = 100_000;

    private final List<MatrixFile> shards;
    private final int width;
    private final long rowCount;
    private int shard;
    private long row;
    private @Nullable Block last;
    private MatrixFile.@Nullable Keys keys;

    private ShardRows(List<MatrixFile> shards) {
        this.shards = shards;
        this.width = shards.isEmpty() ? 0 : shards.get(0).width();
        this.rowCount = shards.stream().mapToLong(MatrixFile::rowCount).sum();
    }

    /** Opens the shards; none is an empty part. */
    static ShardRows open(List<String> directories) {
        List<MatrixFile> shards = new ArrayList<>();
        for (String directory : directories) {
            shards.add(MatrixFile.open(Path.of(directory)));
        }
        return new ShardRows(shards);
    }

    int width() {
        return width;
    }

    long rowCount() {
        return rowCount;
    }

    /** The next block, or null at the end. It is valid until the next call. */
    @Nullable
    Block next() {
        release();
        while (shard < shards.size() && row == shards.get(shard).rowCount()) {
            shard++;
            row = 0;
        }
        if (shard == shards.size()) {
            return null;
        }
        MatrixFile file = shards.get(shard);
        int limit = Math.min(BLOCK_ROWS_LIMIT, Math.min(file.blockLimitRows(), BLOCK_BYTES / (Float.BYTES * width)));
        int rows = (int) Math.min(file.rowCount() - row, Math.max(limit, 1));
        last = new Block(file.block(row, rows), file.labels(row, rows), rows);
        row += rows;
        return last;
    }

    /** Starts again at the first row. */
    void rewind() {
        release();
        shard = 0;
        row = 0;
    }

    /** Gives the pages of the last block back. */
    void release() {
        if (last != null) {
            last.release();
            last = null;
        }
    }

    /**
     * Copies the next rows, with their keys. Not to be mixed with {@link #next}.
     *
     * @param limit most rows
     * @param features takes {@code limit x width} values
     * @param labels takes {@code limit} values
     * @param rowKeys receives the keys, after being cleared
     * @return rows copied; 0 at the end
     */
    int read(int limit, float[] features, float[] labels, List<String> rowKeys) {
        rowKeys.clear();
        while (shard < shards.size() && row == shards.get(shard).rowCount()) {
            closeKeys();
            shard++;
            row = 0;
        }
        if (shard == shards.size()) {
            return 0;
        }
        MatrixFile file = shards.get(shard);
        if (keys == null) {
            keys = file.keys();
        }
        int rows = (int) Math.min(Math.min(limit, file.blockLimitRows()), file.rowCount() - row);
        Block block = new Block(file.block(row, rows), file.labels(row, rows), rows);
        block.features.asFloatBuffer().get(features, 0, rows * width);
        block.labels.asFloatBuffer().get(labels, 0, rows);
        for (int index = 0; index < rows; index++) {
            rowKeys.add(keys.next());
        }
        block.release();
        row += rows;
        return rows;
    }

    private void closeKeys() {
        if (keys != null) {
            keys.close();
            keys = null;
        }
    }

    @Override
    public void close() {
        closeKeys();
        shards.forEach(MatrixFile::close);
    }

    /** Rows next to each other. */
    static final class Block {
        private final ByteBuffer features;
        private final ByteBuffer labels;
        private final int rowCount;

        private Block(ByteBuffer features, ByteBuffer labels, int rowCount) {
            this.features = features;
            this.labels = labels;
            this.rowCount = rowCount;
        }

        int rowCount() {
            return rowCount;
        }

        long featuresAddress() {
            return address(features);
        }

        long labelsAddress() {
            return address(labels);
        }

        private void release() {
            MemoryPages.drop(featuresAddress(), features.capacity());
            MemoryPages.drop(labelsAddress(), labels.capacity());
        }

        private static long address(ByteBuffer buffer) {
            return Pointer.nativeValue(Native.getDirectBufferPointer(buffer));
        }
    }
}
