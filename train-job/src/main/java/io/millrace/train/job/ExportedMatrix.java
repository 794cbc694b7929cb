package io.millrace.train.job;

import io.millrace.train.spec.Comparison;
import io.millrace.train.spec.SpecJson;
import org.jspecify.annotations.Nullable;

/**
 * What the export hands to the training, as JSON: the matrices are in the cache.
 *
 * @param directory the matrix
 * @param settled what is already known of the deployed model; null when the training has to find out
 */
record ExportedMatrix(String directory, @Nullable Comparison settled) {
    String toJson() {
        return SpecJson.line(this);
    }

    static ExportedMatrix parse(String json) {
        return SpecJson.parse(json, ExportedMatrix.class);
    }
}
