package io.millrace.store;

import io.millrace.contract.ModelManifest;
import io.millrace.contract.Sha256;
import io.millrace.contract.Task;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Packages of meaningless bytes with a true manifest. */
final class TestingPackages {
    static final String MODEL_FILE = "model.ubj";

    private TestingPackages() {}

    /** Writes a package whose model has a given length; returns the digest of its manifest. */
    static String write(Path directory, long seed, int modelLength) throws IOException {
        byte[] model = new byte[modelLength];
        new SplittableRandom(seed).nextBytes(model);
        Files.createDirectories(directory);
        Files.write(directory.resolve(MODEL_FILE), model);
        Files.writeString(directory.resolve(ModelManifest.FITTED_FILE_NAME), "{}", StandardCharsets.UTF_8);
        Files.writeString(directory.resolve("evaluation.csv"), "key,label,score\n", StandardCharsets.UTF_8);
        return writeManifest(directory, seed);
    }

    /** Writes the manifest that fits the files now in a directory; returns its digest. */
    static String writeManifest(Path directory, long seed) throws IOException {
        List<ModelManifest.FileEntry> entries = new ArrayList<>();
        for (String name : List.of(MODEL_FILE, ModelManifest.FITTED_FILE_NAME, "evaluation.csv")) {
            Path file = directory.resolve(name);
            entries.add(new ModelManifest.FileEntry(name, Files.size(file), Sha256.hex(file)));
        }
        return writeManifest(directory, manifest(seed, entries));
    }

    /** Writes any manifest; returns its digest. */
    static String writeManifest(Path directory, ModelManifest manifest) throws IOException {
        byte[] bytes = manifest.toJson();
        Files.write(directory.resolve(ModelManifest.FILE_NAME), bytes);
        return Sha256.hex(bytes);
    }

    static ModelManifest manifest(long seed, List<ModelManifest.FileEntry> files) {
        return new ModelManifest(
                ModelManifest.FORMAT_VERSION,
                "testing",
                1,
                "testing",
                seed,
                "xgboost",
                Task.REGRESSION,
                null,
                "xgboost-ubj",
                files,
                "0".repeat(64),
                0,
                1,
                List.of(),
                Map.of(),
                "2026-01-01T00:00:00Z");
    }

    /** A store in a local directory. */
    static StoreConfig files(Path root) {
        return new StoreConfig("fs", Map.of("root", root.toString()));
    }
}
