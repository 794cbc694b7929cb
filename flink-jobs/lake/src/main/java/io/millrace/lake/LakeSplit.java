package io.millrace.lake;

import java.io.Serializable;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Schema;

/**
 * A part of a snapshot that is read by one reader: one data file with the deletes that apply to it.
 *
 * @param ordinal place in the order of the snapshot, from 0; reading splits in this order gives the same rows in the same order every
 *     time
 * @param schema of the snapshot
 * @param task the file, its range and its deletes
 */
public record LakeSplit(int ordinal, Schema schema, FileScanTask task) implements Serializable {
    private static final long serialVersionUID = 1L;

    /** Rows of the file before deletes are applied. */
    public long recordCount() {
        return task.file().recordCount();
    }

    /** Bytes of the file. */
    public long lengthBytes() {
        return task.length();
    }
}
