package io.millrace.lake;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;

/** Tags that keep snapshots from expiring. A tag never moves: it names the same rows for as long as it exists. */
public final class SnapshotTags {
    private SnapshotTags() {}

    /** The tag of a snapshot request. */
    public static String nameOf(long snapshotId) {
        return "ml_snapshot_" + snapshotId;
    }

    /**
     * Tags a snapshot. Repeating the call, also from another process at the same time, is harmless.
     *
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} if the snapshot is not (or no more) in the table, or the tag names
     *     another one
     */
    public static void tag(Table table, long icebergSnapshotId, String tag) {
        TableUpdates.commit(table, current -> tagged(table, current, icebergSnapshotId, tag));
        table.refresh();
    }

    private static TableMetadata tagged(Table table, TableMetadata current, long icebergSnapshotId, String tag) {
        if (current.snapshot(icebergSnapshotId) == null) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "snapshot is not in the table: table=" + table.name() + ", snapshot=" + icebergSnapshotId);
        }
        SnapshotRef existing = current.ref(tag);
        if (existing == null) {
            SnapshotRef ref = SnapshotRef.tagBuilder(icebergSnapshotId).build();
            return TableMetadata.buildFrom(current).setRef(tag, ref).build();
        }
        if (existing.snapshotId() != icebergSnapshotId) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "tag names another snapshot: table=" + table.name() + ", tag=" + tag + ", snapshot="
                            + icebergSnapshotId + ", tagged=" + existing.snapshotId());
        }
        return current;
    }
}
