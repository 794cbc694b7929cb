package io.millrace.lake;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.lake.column.LiveRows;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.ManifestFiles;
import org.apache.iceberg.ManifestReader;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.jspecify.annotations.Nullable;

/**
 * How large a snapshot is, and how much of it its parent does not have.
 *
 * @param rows that are not deleted
 * @param addedFiles data and delete files that the parent does not have
 * @param bytes of all live data and delete files
 * @param addedBytes of the added files
 */
public record SnapshotSize(long rows, int addedFiles, long bytes, long addedBytes) {
    /**
     * Measures a snapshot. Only files with deletes are opened, and of them only the key.
     *
     * @param parentIcebergSnapshotId an earlier snapshot; null when everything counts as added, as does a parent that has expired
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} if the snapshot is not in the table
     */
    public static SnapshotSize of(Table table, long icebergSnapshotId, @Nullable Long parentIcebergSnapshotId) {
        List<LakeSplit> splits = SnapshotScan.plan(table, icebergSnapshotId);
        Map<String, Long> files = fileBytes(table, table.snapshot(icebergSnapshotId));
        Snapshot parent = parentIcebergSnapshotId == null ? null : table.snapshot(parentIcebergSnapshotId);
        Map<String, Long> before = parent == null ? Map.of() : fileBytes(table, parent);
        long bytes = 0;
        long addedBytes = 0;
        int addedFiles = 0;
        for (Map.Entry<String, Long> file : files.entrySet()) {
            bytes += file.getValue();
            if (!before.containsKey(file.getKey())) {
                addedBytes += file.getValue();
                addedFiles++;
            }
        }
        return new SnapshotSize(rows(table, splits), addedFiles, bytes, addedBytes);
    }

    /** Rows that are not deleted. */
    static long rows(Table table, List<LakeSplit> splits) {
        long rows = 0;
        for (LakeSplit split : splits) {
            if (split.task().deletes().isEmpty()) {
                rows += split.recordCount();
                continue;
            }
            try (LiveRows live = LiveRows.open(table.io(), split.schema(), split.task(), List.of(), false)) {
                while (live.next()) {
                    rows += live.liveCount();
                }
            }
        }
        return rows;
    }

    private static Map<String, Long> fileBytes(Table table, Snapshot snapshot) {
        Map<String, Long> bytes = new HashMap<>();
        for (ManifestFile manifest : snapshot.dataManifests(table.io())) {
            try (ManifestReader<DataFile> reader = ManifestFiles.read(manifest, table.io(), table.specs())) {
                add(bytes, reader);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        for (ManifestFile manifest : snapshot.deleteManifests(table.io())) {
            try (ManifestReader<DeleteFile> reader =
                    ManifestFiles.readDeleteManifest(manifest, table.io(), table.specs())) {
                add(bytes, reader);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return bytes;
    }

    private static void add(Map<String, Long> bytes, Iterable<? extends ContentFile<?>> files) {
        for (ContentFile<?> file : files) {
            bytes.put(file.location(), file.fileSizeInBytes());
        }
    }
}
