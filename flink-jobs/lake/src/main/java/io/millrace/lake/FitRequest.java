package io.millrace.lake;

import com.fasterxml.jackson.databind.JsonNode;
import io.millrace.contract.Task;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is to be fitted on a snapshot.
 *
 * @param snapshotId of {@code ml.snapshots}
 * @param labelColumn name of the column to be predicted
 * @param keyColumns names of columns that identify a row; never features unless named as such
 * @param features names of input columns; null for all but key and label
 * @param task null to infer it from the label
 * @param preprocess {@code {"default": "tree" | "linear", "<column>": {option: value}}}; null or empty for the defaults of trees
 */
public record FitRequest(
        long snapshotId,
        String labelColumn,
        List<String> keyColumns,
        @Nullable List<String> features,
        @Nullable Task task,
        @Nullable JsonNode preprocess) {
    public FitRequest {
        keyColumns = List.copyOf(keyColumns);
        features = features == null ? null : List.copyOf(features);
    }
}
