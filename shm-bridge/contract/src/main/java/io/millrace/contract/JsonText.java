package io.millrace.contract;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/** Writes a document to memory; the same calls give the same bytes. */
public final class JsonText {
    private static final JsonFactory FACTORY = new JsonFactory();

    private JsonText() {}

    /** What writes a document. */
    @FunctionalInterface
    public interface Body {
        /** Writes it. */
        void write(JsonGenerator out) throws IOException;
    }

    /**
     * The document's bytes, UTF-8.
     *
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} if a text is not Unicode
     */
    public static byte[] of(Body body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator out = FACTORY.createGenerator(bytes)) {
            body.write(out);
        } catch (IOException notUnicode) {
            // Memory does not fail, so it is a text with half of a surrogate pair.
            throw new ContractException(ErrorCode.INVALID_VALUE, "JSON text must be Unicode", notUnicode);
        }
        return bytes.toByteArray();
    }

    /** Writes a field that is a list of texts. */
    public static void writeTexts(JsonGenerator out, String key, Iterable<String> texts) throws IOException {
        out.writeArrayFieldStart(key);
        for (String text : texts) {
            out.writeString(text);
        }
        out.writeEndArray();
    }

    /** Sixteen hexadecimal digits. */
    public static String hex64(long value) {
        return String.format("%016x", value);
    }
}
