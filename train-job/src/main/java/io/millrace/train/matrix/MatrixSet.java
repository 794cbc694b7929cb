package io.millrace.train.matrix;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A complete exported matrix; the content of its directory's manifest, which is written last.
 *
 * @param key what it was exported for
 * @param width features per row
 * @param classCount classes of the label; 0 for a regression
 * @param trainRows rows to train on
 * @param validationRows rows that decide early stopping
 * @param testRows rows to evaluate on
 * @param unlabelledRows rows of the snapshot left out because their label is NULL or not a known class
 * @param unseenValues text values that the fitted preprocessing does not know
 * @param bytes size on disk
 */
public record MatrixSet(
        MatrixKey key,
        int width,
        int classCount,
        long trainRows,
        long validationRows,
        long testRows,
        long unlabelledRows,
        long unseenValues,
        long bytes) {
    /** Name of the manifest. */
    static final String MANIFEST_FILE = "matrix.json";
    /** Name of the copy of the fitted preprocessing. */
    public static final String FITTED_FILE = "fitted.json";

    /** Directories of a part's shards that have rows, in order. */
    public List<String> shards(Path directory, Part part) {
        long rows = switch (part) {
            case TRAIN -> trainRows;
            case VALIDATION -> validationRows;
            case TEST -> testRows;
        };
        return rows == 0
                ? List.of()
                : IntStream.range(0, key.shards())
                        .mapToObj(index -> directory.resolve(part.shard(index)).toString())
                        .toList();
    }
}
