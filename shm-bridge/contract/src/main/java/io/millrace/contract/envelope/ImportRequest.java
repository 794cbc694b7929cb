package io.millrace.contract.envelope;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.JsonObject;
import io.millrace.contract.JsonText;
import io.millrace.contract.Task;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A model file that is to become a package of the model store: the rows area of a request of kind {@code IMPORT}.
 *
 * @param importId names the package: the same request again is the same package
 * @param database name
 * @param projectId in that database
 * @param project name
 * @param task of the project
 * @param uri of the file: {@code file:/..} or {@code store:..}
 * @param format of the file
 * @param sha256 the file must have; null for any
 * @param fitted document of the preprocessing that makes the model's inputs; null for plain numbers by position
 * @param features names of the plain numbers; empty when the model tells how many there are
 * @param labels of the classes in the order of the model's; empty when the model or the preprocessing tells them
 * @param output of the model that is the answer; null for the only one that can be
 * @param scores what the output of a classification is, {@code probability} or {@code logit}; null for probability
 * @param createdAt ISO 8601, UTC
 */
public record ImportRequest(
        String importId,
        String database,
        long projectId,
        String project,
        Task task,
        String uri,
        String format,
        @Nullable String sha256,
        @Nullable String fitted,
        List<String> features,
        List<String> labels,
        @Nullable String output,
        @Nullable String scores,
        String createdAt) {
    /** Copies the lists. */
    public ImportRequest {
        features = List.copyOf(features);
        labels = List.copyOf(labels);
    }

    /**
     * Reads the JSON of a request.
     *
     * @throws ContractException {@link ErrorCode#INVALID_ENVELOPE} if it is malformed
     */
    public static ImportRequest parse(byte[] document) {
        JsonObject json = JsonObject.parse(document, "import request", ErrorCode.INVALID_ENVELOPE);
        String importId = json.string("import-id");
        if (!importId.matches("[0-9a-f-]{1,64}")) {
            throw json.wrong("import-id", "must be hexadecimal digits and dashes");
        }
        ImportRequest request = new ImportRequest(
                importId,
                json.string("database"),
                json.integer("project-id", 0, Long.MAX_VALUE),
                json.string("project"),
                Task.of(json.string("task")),
                json.string("uri"),
                json.string("format"),
                json.has("sha256") ? json.sha256("sha256") : json.stringOrNull("sha256"),
                json.stringOrNull("fitted"),
                stringsOrNone(json, "features"),
                stringsOrNone(json, "labels"),
                json.stringOrNull("output"),
                json.stringOrNull("scores"),
                json.string("created-at"));
        json.finish();
        return request;
    }

    private static List<String> stringsOrNone(JsonObject json, String key) {
        if (json.has(key)) {
            return json.strings(key);
        }
        json.stringOrNull(key);
        return List.of();
    }

    /** The JSON; {@link #parse} reads it back equal. */
    public byte[] toJson() {
        return JsonText.of(out -> {
            out.writeStartObject();
            out.writeStringField("import-id", importId);
            out.writeStringField("database", database);
            out.writeNumberField("project-id", projectId);
            out.writeStringField("project", project);
            out.writeStringField("task", task.text());
            out.writeStringField("uri", uri);
            out.writeStringField("format", format);
            out.writeStringField("sha256", sha256);
            out.writeStringField("fitted", fitted);
            JsonText.writeTexts(out, "features", features);
            JsonText.writeTexts(out, "labels", labels);
            out.writeStringField("output", output);
            out.writeStringField("scores", scores);
            out.writeStringField("created-at", createdAt);
            out.writeEndObject();
        });
    }
}
