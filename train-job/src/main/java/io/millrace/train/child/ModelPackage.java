package io.millrace.train.child;

import io.millrace.contract.ModelManifest;
import io.millrace.contract.Task;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.engine.Engines;
import io.millrace.engine.Scorer;
import io.millrace.train.spec.TrainSpec;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** The directory that becomes a model: the model file, what transforms its rows, its evaluation and, last, its manifest. */
final class ModelPackage {
    static final String MODEL_FILE = Engines.XGBOOST_FILE;
    static final String FORMAT = Engines.XGBOOST_FORMAT;
    static final String EVALUATION_FILE = "evaluation.csv";

    private final Path directory;
    private final TrainSpec spec;
    private final FittedPreprocessing fitted;

    /**
     * @param directory holds the model file already
     * @param fitted what made the matrix
     */
    ModelPackage(Path directory, TrainSpec spec, FittedPreprocessing fitted) throws IOException {
        this.directory = directory;
        this.spec = spec;
        this.fitted = fitted;
        Files.write(directory.resolve(ModelManifest.FITTED_FILE_NAME), fitted.toJson());
    }

    /** Scores the test rows with the engine that will serve them, writing each row's score; returns the metrics. */
    Map<String, Double> evaluate() throws IOException {
        ModelManifest unfinished = manifest(List.of(), Map.of());
        try (Scorer scorer = Engines.load(directory, unfinished);
                ShardRows rows = ShardRows.open(spec.testShards())) {
            return new Evaluation(scorer, fitted.target()).run(rows, directory.resolve(EVALUATION_FILE));
        }
    }

    /**
     * Writes the manifest.
     *
     * @return its SHA-256, in hexadecimal
     */
    String finish(Map<String, Double> metrics) throws IOException {
        List<ModelManifest.FileEntry> files = new ArrayList<>();
        for (String name : List.of(MODEL_FILE, ModelManifest.FITTED_FILE_NAME, EVALUATION_FILE)) {
            Path file = directory.resolve(name);
            files.add(new ModelManifest.FileEntry(name, Files.size(file), sha256(file)));
        }
        Path manifest = directory.resolve(ModelManifest.FILE_NAME);
        Files.write(manifest, manifest(files, metrics).toJson());
        return sha256(manifest);
    }

    /** Size of all files. */
    long bytes() throws IOException {
        try (var files = Files.list(directory)) {
            long bytes = 0;
            for (Path file : files.toList()) {
                bytes += Files.size(file);
            }
            return bytes;
        }
    }

    private ModelManifest manifest(List<ModelManifest.FileEntry> files, Map<String, Double> metrics) {
        Task task = fitted.target().task();
        return new ModelManifest(
                ModelManifest.FORMAT_VERSION,
                spec.database(),
                spec.projectId(),
                spec.project(),
                spec.runId(),
                spec.algorithm(),
                task,
                spec.objective(),
                FORMAT,
                files,
                fitted.fittedId(),
                fitted.inputs().fingerprint(),
                fitted.width(),
                fitted.target().labels(),
                metrics,
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    }

    private static String sha256(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file);
                DigestInputStream digesting = new DigestInputStream(in, MessageDigest.getInstance("SHA-256"))) {
            digesting.transferTo(OutputStream.nullOutputStream());
            return HexFormat.of().formatHex(digesting.getMessageDigest().digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM must have SHA-256", e);
        }
    }
}
