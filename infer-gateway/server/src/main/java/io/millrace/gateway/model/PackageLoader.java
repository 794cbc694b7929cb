package io.millrace.gateway.model;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.fitted.RawRows;
import io.millrace.engine.Engines;
import io.millrace.engine.Scorer;
import io.millrace.gateway.core.ServedModel;
import io.millrace.store.ModelStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * A package is trusted only after all of this: the manifest has the digest the database named; every file has the digest
 * the manifest names (both the store's work); the preprocessing inside is the one the manifest names, and gives vectors
 * of the width the scorer takes; the engine loads it and both its ways of scoring agree. Any failure is an exception here
 * and changes nothing for the models that serve.
 */
/** Packages of the model store. Threads: any. */
public final class PackageLoader implements ModelSource {
    private static final Logger log = LoggerFactory.getLogger(PackageLoader.class);

    /** Memory of a model while it is loaded, by its file: the parsed trees, and the flat ones made of them. */
    private static final int LOADING_FACTOR = 3;

    private static final int[] WARM_ROWS = {1, 8, 64, 512};
    private static final int WARM_RUNS_MAX = 200;
    private static final long WARM_NANOS_PER_SIZE = 50_000_000;

    private final ModelStore store;
    private final Path cacheDirectory;
    private final long budgetBytes;
    private final int queueRows;

    /**
     * A loader.
     *
     * @param cacheDirectory of local packages
     * @param budgetBytes memory all models may hold; one that is larger is refused
     * @param queueRows rows that may wait for one model
     */
    public PackageLoader(ModelStore store, Path cacheDirectory, long budgetBytes, int queueRows) {
        this.store = store;
        this.cacheDirectory = cacheDirectory;
        this.budgetBytes = budgetBytes;
        this.queueRows = queueRows;
    }

    @Override
    public ServedModel load(long key, ModelReference reference) {
        if (reference.modelKey() != key) {
            throw new ContractException(
                    ErrorCode.INVALID_ENVELOPE,
                    "model key must be the beginning of the digest: modelKey=" + Long.toHexString(key) + ", sha256="
                            + reference.sha256());
        }
        Path directory = store.fetch(reference.uri(), reference.sha256(), cacheDirectory);
        ModelManifest manifest = ModelManifest.parse(read(directory.resolve(ModelManifest.FILE_NAME)));
        checkLoadable(manifest);
        byte[] document = read(directory.resolve(ModelManifest.FITTED_FILE_NAME));
        FittedPreprocessing fitted = FittedPreprocessing.parse(document);
        checkFitted(fitted, manifest);
        Scorer scorer = Engines.load(directory, manifest);
        try {
            // Levels and names are strings and tables by now: about four times their text.
            long bytes = scorer.residentBytes() + 4L * document.length;
            checkBudget(bytes);
            if (scorer.width() != fitted.width()) {
                throw corrupt("scorer must take what the preprocessing gives: width=" + scorer.width()
                        + ", fittedWidth=" + fitted.width());
            }
            String name = reference.project() + "/" + reference.modelId();
            ServedModel model = new ServedModel(
                    key,
                    reference.modelId(),
                    name,
                    manifest.task(),
                    manifest.labels(),
                    fitted,
                    scorer,
                    bytes,
                    queueRows);
            warmUp(scorer, model);
            return model;
        } catch (RuntimeException | Error e) {
            scorer.close();
            throw e;
        }
    }

    /** Before anything of the model is read: running out of memory would end the gateway. */
    private void checkLoadable(ModelManifest manifest) {
        String modelFile = Engines.modelFile(manifest.format());
        long fileBytes = manifest.files().stream()
                .filter(file -> file.name().equals(modelFile))
                .mapToLong(ModelManifest.FileEntry::bytes)
                .sum();
        if (fileBytes > fileBytesMax(budgetBytes)) {
            throw new ContractException(
                    ErrorCode.MODEL_TOO_LARGE,
                    "model must fit the memory for models while it is loaded: fileBytes=" + fileBytes
                            + ", limitFileBytes=" + fileBytesMax(budgetBytes) + ", budgetBytes=" + budgetBytes);
        }
    }

    /** Largest model file that can be loaded. */
    static long fileBytesMax(long budgetBytes) {
        return budgetBytes / LOADING_FACTOR;
    }

    private void checkBudget(long bytes) {
        if (bytes > budgetBytes) {
            throw new ContractException(
                    ErrorCode.MODEL_TOO_LARGE,
                    "model must fit the memory for models: bytes=" + bytes + ", budgetBytes=" + budgetBytes);
        }
    }

    private static void checkFitted(FittedPreprocessing fitted, ModelManifest manifest) {
        if (!fitted.fittedId().equals(manifest.fittedId())) {
            throw corrupt("preprocessing must be the manifest's: fittedId=" + fitted.fittedId() + ", manifestFittedId="
                    + manifest.fittedId());
        }
        if (fitted.inputs().fingerprint() != manifest.schemaFingerprint()) {
            throw corrupt("preprocessing must have the manifest's columns: fingerprint="
                    + Long.toHexString(fitted.inputs().fingerprint()) + ", manifestFingerprint="
                    + Long.toHexString(manifest.schemaFingerprint()));
        }
        if (fitted.width() != manifest.width()) {
            throw corrupt("preprocessing must have the manifest's width: width=" + fitted.width() + ", manifestWidth="
                    + manifest.width());
        }
        if (!fitted.target().labels().equals(manifest.labels())) {
            throw corrupt("preprocessing must have the manifest's labels: labels="
                    + fitted.target().labels().size() + ", manifestLabels="
                    + manifest.labels().size());
        }
    }

    /** Compiles the code, touches the pages and learns what a batch costs, so that the first caller pays for none. */
    private static void warmUp(Scorer scorer, ServedModel model) {
        SplittableRandom random = new SplittableRandom(1);
        for (int warmRows : WARM_ROWS) {
            int rowCount = model.blockRows(warmRows);
            Runnable batch = warmBatch(scorer, rowCount, random);
            long end = System.nanoTime() + WARM_NANOS_PER_SIZE;
            try {
                for (int run = 0; run < WARM_RUNS_MAX && (run == 0 || System.nanoTime() - end < 0); run++) {
                    long start = System.nanoTime();
                    batch.run();
                    model.cost().record(rowCount, System.nanoTime() - start);
                }
            } catch (ContractException e) {
                // A graph may refuse rows that no table would hold.
                log.info("model is not warmed: model={}, rows={}, reason={}", model.name(), rowCount, e.getMessage());
                return;
            }
        }
    }

    private static Runnable warmBatch(Scorer scorer, int rowCount, SplittableRandom random) {
        float[] outputs = new float[rowCount * scorer.outputs()];
        if (!scorer.rawColumns().isEmpty()) {
            RawRows rows = new RawRows(scorer.rawColumns());
            rows.ensure(rowCount);
            return () -> scorer.score(rows, 0, rowCount, outputs);
        }
        float[] features = new float[rowCount * scorer.width()];
        for (int index = 0; index < features.length; index++) {
            features[index] = random.nextInt(8) == 0 ? Float.NaN : (float) random.nextDouble();
        }
        return () -> scorer.score(features, rowCount, outputs);
    }

    private static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new ContractException(
                    ErrorCode.IO_FAILED,
                    "package file cannot be read: file=" + file.getFileName() + ", reason=" + e,
                    e);
        }
    }

    private static ContractException corrupt(String message) {
        return new ContractException(ErrorCode.CORRUPT_PACKAGE, message);
    }
}
