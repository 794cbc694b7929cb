package io.millrace.contract.envelope;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.JsonObject;
import io.millrace.contract.JsonText;
import io.millrace.contract.Sha256;
import io.millrace.contract.layout.RequestLayout;

/**
 * Where a model is, as the database that sends it knows it: all that a gateway needs to load it.
 *
 * @param modelId in that database
 * @param project name
 * @param database name
 * @param uri of the package in the model store
 * @param sha256 of the package's manifest
 * @param bytes of the package
 * @param limits of the project
 */
public record ModelReference(
        long modelId, String project, String database, String uri, String sha256, long bytes, RequestLimits limits) {
    /** A reference to a model of a project without limits. */
    public ModelReference(long modelId, String project, String database, String uri, String sha256, long bytes) {
        this(modelId, project, database, uri, sha256, bytes, RequestLimits.NONE);
    }

    /**
     * Reads the JSON of a request.
     *
     * @throws io.millrace.contract.ContractException {@link ErrorCode#INVALID_ENVELOPE} if it is malformed
     */
    public static ModelReference parse(byte[] document) {
        if (document.length > RequestLayout.MODEL_REFERENCE_LIMIT) {
            throw Invalid.envelope("model reference is too long: length=" + document.length + ", limitLength="
                    + RequestLayout.MODEL_REFERENCE_LIMIT);
        }
        JsonObject json = JsonObject.parse(document, "model reference", ErrorCode.INVALID_ENVELOPE);
        ModelReference reference = new ModelReference(
                json.integer("model-id", 0, Long.MAX_VALUE),
                json.string("project"),
                json.string("database"),
                json.string("uri"),
                json.sha256("sha256"),
                json.integer("bytes", 0, Long.MAX_VALUE),
                json.has("limits") ? RequestLimits.from(json.object("limits")) : RequestLimits.NONE);
        json.finish();
        return reference;
    }

    /** The JSON; {@link #parse} reads it back equal. */
    public byte[] toJson() {
        return JsonText.of(out -> {
            out.writeStartObject();
            out.writeNumberField("model-id", modelId);
            out.writeStringField("project", project);
            out.writeStringField("database", database);
            out.writeStringField("uri", uri);
            out.writeStringField("sha256", sha256);
            out.writeNumberField("bytes", bytes);
            if (!limits.isEmpty()) {
                out.writeObjectFieldStart("limits");
                out.writeNumberField("requests-per-second", limits.requestsPerSecond());
                out.writeNumberField("rows-per-second", limits.rowsPerSecond());
                out.writeNumberField("concurrent-requests", limits.concurrentRequests());
                out.writeStringField("on-limit", limits.onLimit());
                if (limits.hasMergeWindow()) {
                    out.writeNumberField(RequestLimits.MERGE_WINDOW, limits.mergeWindowMicros());
                }
                out.writeEndObject();
            }
            out.writeEndObject();
        });
    }

    /** The number of the model in a slot line. */
    public long modelKey() {
        return Sha256.key(sha256);
    }
}
