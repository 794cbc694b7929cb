package io.millrace.snapshot.publish;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The row of {@code ml.snapshots} that says what a request asks for.
 *
 * @param status as in the table
 * @param parentIcebergSnapshotId the lake snapshot of its parent, null without one
 * @param features feature columns, null for all but key and label
 * @param preprocess JSON text
 * @param tableColumns the columns that the captured table is known to have, and their PostgreSQL types
 */
record SnapshotRow(
        String status,
        @Nullable Long parentIcebergSnapshotId,
        String labelColumn,
        List<String> keyColumns,
        @Nullable List<String> features,
        String preprocess,
        Map<String, String> tableColumns) {

    /** Nothing is left to do for it. */
    boolean settled() {
        return status.equals("ready") || status.equals("failed") || status.equals("dropped");
    }
}
