package io.millrace.train.job;

import io.millrace.contract.fitted.BoundTransform;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.matrix.MatrixWriter;
import io.millrace.lake.LakeRow;
import io.millrace.train.matrix.Directories;
import io.millrace.train.matrix.MatrixCache;
import io.millrace.train.matrix.MatrixKey;
import io.millrace.train.matrix.MatrixSet;
import io.millrace.train.matrix.Part;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.EnumMap;
import java.util.Map;

/** The shards of one matrix on their way into the cache. One thread. */
final class ShardExport implements AutoCloseable {
    private final MatrixKey key;
    private final FittedPreprocessing fitted;
    private final BoundTransform transform;
    private final MatrixCache cache;
    private final OpenParts open = new OpenParts();
    private final MatrixCache.Scratch scratch;
    private final float[] features;
    private final Map<Part, MatrixWriter> writers = new EnumMap<>(Part.class);
    private final Map<Part, Long> counts = new EnumMap<>(Part.class);

    /**
     * @param key what the matrix is cached as
     * @param fitted what makes its features
     * @param transform the same, bound to the rows to come
     * @param scratchName of its directory until it is complete
     */
    ShardExport(
            MatrixKey key, FittedPreprocessing fitted, BoundTransform transform, MatrixCache cache, String scratchName)
            throws IOException {
        this.key = key;
        this.fitted = fitted;
        this.transform = transform;
        this.cache = cache;
        this.features = new float[transform.width()];
        this.scratch = open.add(cache.scratch(scratchName));
    }

    /** Transforms and writes one row. */
    void add(Part part, LakeRow row, float label) throws IOException {
        transform.apply(row, features, 0);
        writer(part).append(features, label, row.key());
        counts.merge(part, 1L, Long::sum);
    }

    private MatrixWriter writer(Part part) {
        MatrixWriter writer = writers.get(part);
        if (writer == null) {
            writer = open.add(MatrixWriter.create(
                    scratch.directory().resolve(part.shard(0)),
                    transform.width(),
                    fitted.inputs().fingerprint()));
            writers.put(part, writer);
        }
        return writer;
    }

    /**
     * Closes the shards and puts the matrix into the cache.
     *
     * @param classCount classes of the label; 0 for a regression
     * @param unlabelled rows left out
     */
    MatrixCache.CachedMatrix finish(int classCount, long unlabelled) throws IOException {
        for (MatrixWriter writer : writers.values()) {
            writer.finish();
        }
        Files.writeString(
                scratch.directory().resolve(MatrixSet.FITTED_FILE),
                new String(fitted.toJson(), StandardCharsets.UTF_8));
        MatrixSet set = new MatrixSet(
                key,
                transform.width(),
                classCount,
                counts.getOrDefault(Part.TRAIN, 0L),
                counts.getOrDefault(Part.VALIDATION, 0L),
                counts.getOrDefault(Part.TEST, 0L),
                unlabelled,
                transform.unseenCount(),
                Directories.bytes(scratch.directory()));
        return cache.publish(scratch, set);
    }

    @Override
    public void close() throws IOException {
        open.close();
    }
}
