package io.millrace.train.spec;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a finished training left behind.
 *
 * @param uri the package in the model store
 * @param sha256 of the package's manifest
 * @param bytes size of all files of the package
 * @param format of the model file
 * @param fittedId identity of the fitted preprocessing inside the package
 * @param labels classes in order; empty for a regression
 * @param metrics name to value, on the test rows
 * @param facts counts and measurements of the training itself
 * @param deployed the deployed model on the same test rows; null if none was deployed when the run was planned
 */
public record TrainResult(
        String uri,
        String sha256,
        long bytes,
        String format,
        String fittedId,
        List<String> labels,
        Map<String, Double> metrics,
        Map<String, Double> facts,
        @Nullable Comparison deployed) {
    /** The same with what is known of the deployed model. */
    public TrainResult comparedWith(Comparison comparison) {
        return new TrainResult(uri, sha256, bytes, format, fittedId, labels, metrics, facts, comparison);
    }
}
