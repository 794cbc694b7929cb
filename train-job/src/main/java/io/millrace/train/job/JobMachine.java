package io.millrace.train.job;

import io.millrace.jobs.JobSettings;
import io.millrace.train.TrainConfig;
import io.millrace.train.matrix.MatrixCache;
import io.millrace.train.matrix.MatrixKey;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * What a task finds on the machine it runs on.
 *
 * @param config of training
 * @param cache of matrices
 */
record JobMachine(TrainConfig config, MatrixCache cache) {

    static JobMachine of(TrainPlan plan) throws IOException {
        JobSettings settings = new JobSettings(Path.of(plan.confDirectory()), Map.of());
        TrainConfig config = TrainConfig.from(settings.file("train"));
        return new JobMachine(config, MatrixCache.open(config.matrixDirectory(), config.matrixCacheBytes()));
    }

    /** Where packages taken from the model store are kept. */
    Path packageCache() {
        return config.matrixDirectory().resolve("packages");
    }

    /**
     * A matrix that was in the cache a moment ago.
     *
     * @throws IOException if it was evicted
     */
    MatrixCache.CachedMatrix cachedMatrix(MatrixKey key) throws IOException {
        return cache.find(key)
                .orElseThrow(() -> new IOException(
                        "matrix was evicted before it could be used: directory=" + key.directoryName()));
    }

    boolean isCached(MatrixKey key) throws IOException {
        Optional<MatrixCache.CachedMatrix> found = cache.find(key);
        if (found.isPresent()) {
            found.get().close();
        }
        return found.isPresent();
    }
}
