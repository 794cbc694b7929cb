package io.millrace.contract.envelope;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.JsonObject;
import io.millrace.contract.JsonText;
import java.util.List;

/**
 * The package that an import made: the text of an answer of kind {@code IMPORT}, what the database remembers of it.
 *
 * @param uri of the package in the model store
 * @param sha256 of its manifest
 * @param bytes of all its files
 * @param format of the model file
 * @param fittedId of the preprocessing inside
 * @param labels of the classes in order; empty for regression
 * @param notes for the caller, in words
 */
public record ImportAnswer(
        String uri,
        String sha256,
        long bytes,
        String format,
        String fittedId,
        List<String> labels,
        List<String> notes) {
    /** Copies the lists. */
    public ImportAnswer {
        labels = List.copyOf(labels);
        notes = List.copyOf(notes);
    }

    /**
     * Reads the JSON.
     *
     * @throws io.millrace.contract.ContractException {@link ErrorCode#INVALID_ENVELOPE} if it is malformed
     */
    public static ImportAnswer parse(byte[] document) {
        JsonObject json = JsonObject.parse(document, "import answer", ErrorCode.INVALID_ENVELOPE);
        ImportAnswer answer = new ImportAnswer(
                json.string("uri"),
                json.sha256("sha256"),
                json.integer("bytes", 0, Long.MAX_VALUE),
                json.string("format"),
                json.sha256("fitted-id"),
                json.strings("labels"),
                json.strings("notes"));
        json.finish();
        return answer;
    }

    /** The JSON; {@link #parse} reads it back equal. */
    public byte[] toJson() {
        return JsonText.of(out -> {
            out.writeStartObject();
            out.writeStringField("uri", uri);
            out.writeStringField("sha256", sha256);
            out.writeNumberField("bytes", bytes);
            out.writeStringField("format", format);
            out.writeStringField("fitted-id", fittedId);
            JsonText.writeTexts(out, "labels", labels);
            JsonText.writeTexts(out, "notes", notes);
            out.writeEndObject();
        });
    }
}
