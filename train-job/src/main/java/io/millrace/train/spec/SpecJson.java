package io.millrace.train.spec;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Reads and writes this package's records as JSON. */
public final class SpecJson {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.KEBAB_CASE)
            // Names are sorted so that equal content gives equal bytes: the matrix cache is keyed by them.
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .build();

    private SpecJson() {}

    /** One line of JSON. */
    public static String line(Object value) {
        try {
            return MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("record must be writable as JSON: type=" + value.getClass(), e);
        }
    }

    /**
     * Parses a record.
     *
     * @throws UncheckedIOException if the text is not JSON of that shape
     */
    public static <T> T parse(String text, Class<T> type) {
        try {
            return MAPPER.readValue(text, type);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("JSON must have the expected shape: type=" + type.getSimpleName(), e);
        }
    }

    /** Reads a record from a file. */
    public static <T> T read(Path file, Class<T> type) throws IOException {
        return parse(Files.readString(file), type);
    }

    /** Writes a record so that the file is either absent or whole. */
    public static void write(Path file, Object value) throws IOException {
        Path unfinished = file.resolveSibling(file.getFileName() + ".unfinished");
        Files.write(unfinished, line(value).getBytes(StandardCharsets.UTF_8));
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
