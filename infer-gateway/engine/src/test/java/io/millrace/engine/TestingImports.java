package io.millrace.engine;

import io.millrace.contract.ModelManifest;
import io.millrace.contract.Sha256;
import io.millrace.contract.Task;
import io.millrace.contract.envelope.ImportRequest;
import io.millrace.contract.fitted.FittedPreprocessing;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Imports of graphs, and the manifests that make packages of them. */
public final class TestingImports {
    private TestingImports() {}

    /** A request without a wish. */
    public static ImportRequest request(Task task) {
        return request(task, null, List.of(), List.of(), null, null);
    }

    /** A request for a model behind a preprocessing. */
    public static ImportRequest request(FittedPreprocessing fitted) {
        return request(fitted.target().task(), fitted, List.of(), List.of(), null, null);
    }

    /** A request with wishes. */
    public static ImportRequest request(
            Task task,
            @Nullable FittedPreprocessing fitted,
            List<String> features,
            List<String> labels,
            @Nullable String output,
            @Nullable String scores) {
        return new ImportRequest(
                "00ff-1",
                "testing",
                1,
                "testing",
                task,
                "file:/model.onnx",
                Engines.ONNX_FORMAT,
                null,
                fitted == null ? null : new String(fitted.toJson(), StandardCharsets.UTF_8),
                features,
                labels,
                output,
                scores,
                "2026-01-01T00:00:00Z");
    }

    /** The preprocessing of an imported directory. */
    public static FittedPreprocessing fitted(Path directory) throws IOException {
        return FittedPreprocessing.parse(Files.readAllBytes(directory.resolve(ModelManifest.FITTED_FILE_NAME)));
    }

    /** A manifest for what an import has left in a directory; not written. */
    public static ModelManifest manifest(Path directory) throws IOException {
        FittedPreprocessing fitted = fitted(directory);
        List<ModelManifest.FileEntry> files = new ArrayList<>();
        for (String name : List.of(Engines.ONNX_FILE, OnnxSignature.FILE_NAME, ModelManifest.FITTED_FILE_NAME)) {
            Path file = directory.resolve(name);
            files.add(new ModelManifest.FileEntry(name, Files.size(file), Sha256.hex(file)));
        }
        return new ModelManifest(
                ModelManifest.FORMAT_VERSION,
                "testing",
                1,
                "testing",
                0,
                "onnx",
                fitted.target().task(),
                null,
                Engines.ONNX_FORMAT,
                files,
                fitted.fittedId(),
                fitted.inputs().fingerprint(),
                fitted.width(),
                fitted.target().labels(),
                Map.of(),
                "2026-01-01T00:00:00Z");
    }

    /** Imports a graph in this process and writes its manifest: a complete package; returns the import's notes. */
    public static List<String> write(Path directory, TestingGraphs graph, ImportRequest request) throws IOException {
        graph.write(directory);
        List<String> notes = OnnxImport.prepare(directory, request);
        Files.write(
                directory.resolve(ModelManifest.FILE_NAME), manifest(directory).toJson());
        return notes;
    }

    /** A scorer of such a package. */
    public static Scorer load(Path directory) throws IOException {
        return Engines.load(directory, manifest(directory));
    }
}
