package io.millrace.contract;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

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

    /** The document's bytes, UTF-8. */
    public static byte[] of(Body body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator out = FACTORY.createGenerator(bytes)) {
            body.write(out);
        } catch (IOException impossible) {
            throw new UncheckedIOException("memory cannot be written", impossible);
        }
        return bytes.toByteArray();
    }

    /** Sixteen hexadecimal digits. */
    public static String hex64(long value) {
        return String.format("%016x", value);
    }
}
