package io.millrace.contract;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a model package holds; the file {@code manifest.json}, written after all others, so a package with a manifest is
 * complete. The SHA-256 of the manifest's bytes names the model everywhere.
 *
 * @param formatVersion {@link #FORMAT_VERSION}
 * @param database name of the database that trained it
 * @param projectId in that database
 * @param project name
 * @param runId in that database
 * @param algorithm canonical name
 * @param task of the model
 * @param objective of the algorithm; null when it has only one
 * @param format of the model file, for example {@code xgboost-ubj}
 * @param files all others of the package
 * @param fittedId SHA-256 of the fitted preprocessing inside
 * @param schemaFingerprint of its inputs
 * @param width features of one row
 * @param labels of the classes in order; empty for regression
 * @param metrics of the evaluation on the test split, all finite
 * @param createdAt ISO 8601, UTC
 */
public record ModelManifest(
        int formatVersion,
        String database,
        long projectId,
        String project,
        long runId,
        String algorithm,
        Task task,
        @Nullable String objective,
        String format,
        List<FileEntry> files,
        String fittedId,
        long schemaFingerprint,
        int width,
        List<String> labels,
        Map<String, Double> metrics,
        String createdAt) {

    /** Version of the document this code reads and writes. */
    public static final int FORMAT_VERSION = 1;

    /** Name of the file in the package. */
    public static final String FILE_NAME = "manifest.json";

    /** Name of the copy of the fitted preprocessing in the package. */
    public static final String FITTED_FILE_NAME = "fitted.json";

    /** Most features of one row. */
    public static final int WIDTH_LIMIT = 1 << 20;

    private static final int DOCUMENT_LIMIT_BYTES = 64 << 20;

    /**
     * One file of the package.
     *
     * @param name plain file name
     * @param bytes its size
     * @param sha256 of its content, 64 hexadecimal digits
     */
    public record FileEntry(String name, long bytes, String sha256) {}

    /** Copies the collections; metrics keep their order. */
    public ModelManifest {
        files = List.copyOf(files);
        labels = List.copyOf(labels);
        metrics = Collections.unmodifiableMap(new LinkedHashMap<>(metrics));
    }

    /**
     * Reads the document.
     *
     * @throws ContractException {@link ErrorCode#UNKNOWN_VERSION} if another version wrote it, {@link
     *     ErrorCode#CORRUPT_PACKAGE} if anything else is wrong
     */
    public static ModelManifest parse(byte[] document) {
        if (document.length > DOCUMENT_LIMIT_BYTES) {
            throw new ContractException(
                    ErrorCode.CORRUPT_PACKAGE,
                    "manifest is too large: bytes=" + document.length + ", limitBytes=" + DOCUMENT_LIMIT_BYTES);
        }
        JsonObject json = JsonObject.parse(document, "manifest", ErrorCode.CORRUPT_PACKAGE);
        long version = json.integer("format-version", 0, Integer.MAX_VALUE);
        if (version != FORMAT_VERSION) {
            throw new ContractException(
                    ErrorCode.UNKNOWN_VERSION,
                    "manifest version is unknown: version=" + version + ", expectedVersion=" + FORMAT_VERSION);
        }
        Task task = task(json);
        ModelManifest manifest = new ModelManifest(
                FORMAT_VERSION,
                json.string("database"),
                json.integer("project-id", 0, Long.MAX_VALUE),
                json.string("project"),
                json.integer("run-id", 0, Long.MAX_VALUE),
                json.string("algorithm"),
                task,
                json.stringOrNull("objective"),
                json.string("format"),
                files(json),
                json.sha256("fitted-id"),
                json.hex64("schema-fingerprint"),
                (int) json.integer("width", 1, WIDTH_LIMIT),
                json.strings("labels"),
                json.numbers("metrics"),
                json.string("created-at"));
        json.finish();
        checkLabels(json, task, manifest.labels);
        return manifest;
    }

    private static Task task(JsonObject json) {
        try {
            return Task.of(json.string("task"));
        } catch (ContractException unknown) {
            throw json.wrong("task", "must be classification or regression");
        }
    }

    private static List<FileEntry> files(JsonObject json) {
        List<FileEntry> files = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (JsonObject entry : json.objects("files")) {
            FileEntry file = new FileEntry(
                    entry.string("name"), entry.integer("bytes", 0, Long.MAX_VALUE), entry.sha256("sha256"));
            entry.finish();
            // The name becomes a path under the package; nothing else may be reachable through it.
            if (!file.name().matches("[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
                    || file.name().equals(FILE_NAME)) {
                throw entry.wrong("name", "must be a plain file name");
            }
            if (!names.add(file.name())) {
                throw entry.wrong("name", "must be distinct");
            }
            files.add(file);
        }
        return files;
    }

    private static void checkLabels(JsonObject json, Task task, List<String> labels) {
        boolean enough = task == Task.REGRESSION ? labels.isEmpty() : labels.size() >= 2;
        if (!enough || new HashSet<>(labels).size() != labels.size()) {
            throw json.wrong("labels", "must be two or more distinct ones for classification, none for regression");
        }
    }

    /** The document's bytes; {@link #parse} reads them back equal. */
    public byte[] toJson() {
        return JsonText.of(out -> {
            out.writeStartObject();
            out.writeNumberField("format-version", formatVersion);
            out.writeStringField("database", database);
            out.writeNumberField("project-id", projectId);
            out.writeStringField("project", project);
            out.writeNumberField("run-id", runId);
            out.writeStringField("algorithm", algorithm);
            out.writeStringField("task", task.text());
            if (objective != null) {
                out.writeStringField("objective", objective);
            }
            out.writeStringField("format", format);
            out.writeArrayFieldStart("files");
            for (FileEntry file : files) {
                out.writeStartObject();
                out.writeStringField("name", file.name());
                out.writeNumberField("bytes", file.bytes());
                out.writeStringField("sha256", file.sha256());
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeStringField("fitted-id", fittedId);
            out.writeStringField("schema-fingerprint", JsonText.hex64(schemaFingerprint));
            out.writeNumberField("width", width);
            out.writeArrayFieldStart("labels");
            for (String label : labels) {
                out.writeString(label);
            }
            out.writeEndArray();
            out.writeObjectFieldStart("metrics");
            for (Map.Entry<String, Double> metric : metrics.entrySet()) {
                out.writeNumberField(metric.getKey(), metric.getValue());
            }
            out.writeEndObject();
            out.writeStringField("created-at", createdAt);
            out.writeEndObject();
        });
    }
}
