package io.millrace.lake.column;

import java.io.Closeable;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileContent;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Schema;
import org.apache.iceberg.data.BaseDeleteLoader;
import org.apache.iceberg.deletes.PositionDeleteIndex;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.types.Types;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one data file that are not deleted, in the order of the file, batch after batch.
 *
 * <p>Threads: one.
 */
public final class LiveRows implements Closeable {
    /** Rough size in memory of an empty set of positions. */
    private static final long ENTRY_BYTES = 1_024;

    private final ColumnBatches batches;
    private final List<EqualityDeletes> equalityDeletes;
    private final @Nullable PositionDeleteIndex positionDeletes;
    private final int[] live = new int[ColumnBatches.BATCH_ROWS];
    private int liveCount;

    private LiveRows(
            ColumnBatches batches,
            List<EqualityDeletes> equalityDeletes,
            @Nullable PositionDeleteIndex positionDeletes) {
        this.batches = batches;
        this.equalityDeletes = equalityDeletes;
        this.positionDeletes = positionDeletes;
    }

    /**
     * Opens a file.
     *
     * @param schema of the snapshot that is read
     * @param columns wanted, found later by their index here; columns that deletes compare are read besides
     * @param exact whether decimal numbers are also kept as they are
     */
    public static LiveRows open(
            FileIO io, Schema schema, FileScanTask task, List<Types.NestedField> columns, boolean exact) {
        List<DeleteFile> deletes = task.deletes();
        Set<Types.NestedField> keyFields = EqualityDeletes.keyFields(schema, deletes);
        // A wanted column may appear twice (as key and as feature), so only columns of deletes are added by name.
        List<Types.NestedField> fields = new ArrayList<>(columns);
        for (Types.NestedField field : new LinkedHashSet<>(keyFields)) {
            if (!fields.contains(field)) {
                fields.add(field);
            }
        }
        List<EqualityDeletes> equality = EqualityDeletes.load(io, schema, deletes, fields);
        PositionDeleteIndex positions = positionDeletes(io, task);
        ColumnBatches batches = new ColumnBatches(
                io.newInputFile(task.file()), task.start(), task.length(), fields, exact || !equality.isEmpty());
        return new LiveRows(batches, equality, positions);
    }

    /** Moves to the next batch, which may have no live row; false after the last. */
    public boolean next() {
        if (!batches.next()) {
            liveCount = 0;
            return false;
        }
        liveCount = 0;
        for (int row = 0; row < batches.rowCount(); row++) {
            if (!isDeleted(row)) {
                live[liveCount++] = row;
            }
        }
        return true;
    }

    /** Rows of the current batch that are not deleted. */
    public int liveCount() {
        return liveCount;
    }

    /** Rows of the current batch, deleted ones too. */
    public int rowCount() {
        return batches.rowCount();
    }

    /** Place in the file of the first row of the current batch. */
    public long firstPosition() {
        return batches.firstPosition();
    }

    /** Index in the batch's vectors of a live row, {@code 0 <= index < liveCount()}, ascending. */
    public int row(int index) {
        return live[index];
    }

    /** The column at an index of the list that was asked for. */
    public ColumnVector column(int index) {
        return batches.column(index);
    }

    @Override
    public void close() {
        batches.close();
    }

    private boolean isDeleted(int row) {
        if (positionDeletes != null && positionDeletes.isDeleted(batches.firstPosition() + row)) {
            return true;
        }
        for (int i = 0; i < equalityDeletes.size(); i++) {
            if (equalityDeletes.get(i).contains(batches, row)) {
                return true;
            }
        }
        return false;
    }

    private static @Nullable PositionDeleteIndex positionDeletes(FileIO io, FileScanTask task) {
        List<DeleteFile> files = new ArrayList<>();
        for (DeleteFile file : task.deletes()) {
            if (file.content() == FileContent.POSITION_DELETES) {
                files.add(file);
            }
        }
        if (files.isEmpty()) {
            return null;
        }
        return new Loader(io).loadPositionDeletes(files, task.file().location());
    }

    /** Iceberg's loader, in the caller's thread: threads of a pool would outlive the job whose class loader made them. */
    private static final class Loader extends BaseDeleteLoader {
        private Loader(FileIO io) {
            super(io::newInputFile, null);
        }

        @Override
        protected boolean canCache(long sizeBytes) {
            return sizeBytes < DeleteCache.ENTRY_BYTES_MAX;
        }

        @Override
        protected <V> V getOrLoad(String key, Supplier<V> load, long sizeBytes) {
            return DeleteCache.shared().get("positions " + key, load, value -> ENTRY_BYTES + sizeBytes);
        }
    }
}
