package io.millrace.contract;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One object of a JSON document under reading, by hand: every field is asked for by name and type, a field nobody asked
 * for is an error, and what is wrong is said with the path of the field. All calls throw {@link ContractException} with the document's code when a
 * field is absent, of another type or out of range.
 *
 * <p>Call {@link #finish} when all fields are read. Threads: one.
 */
public final class JsonObject {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(JsonParser.Feature.INCLUDE_SOURCE_IN_LOCATION)
            .build();

    private final JsonNode node;
    private final String path;
    private final ErrorCode code;
    private final Set<String> read = new HashSet<>();

    private JsonObject(JsonNode node, String path, ErrorCode code) {
        this.node = node;
        this.path = path;
        this.code = code;
    }

    /**
     * Reads a document that is one object.
     *
     * @param document UTF-8
     * @param what noun of the document, begins every path in a message
     * @param code of every error
     */
    public static JsonObject parse(byte[] document, String what, ErrorCode code) {
        JsonNode node;
        try {
            node = MAPPER.readTree(document);
        } catch (IOException failure) {
            throw new ContractException(
                    code, what + " is not JSON: length=" + document.length + ", reason=" + reason(failure), failure);
        }
        if (node == null || !node.isObject()) {
            throw new ContractException(code, what + " must be a JSON object: length=" + document.length);
        }
        return new JsonObject(node, what, code);
    }

    /** Text. */
    public String string(String key) {
        JsonNode value = field(key);
        if (!value.isTextual()) {
            throw wrong(key, "must be text");
        }
        return value.textValue();
    }

    /** Text, or null when the field is absent or null. */
    public @Nullable String stringOrNull(String key) {
        read.add(key);
        JsonNode value = node.get(key);
        return value == null || value.isNull() ? null : string(key);
    }

    /** A whole number, {@code min <= value <= max}. */
    public long integer(String key, long min, long max) {
        JsonNode value = field(key);
        if (!value.isIntegralNumber() || !value.canConvertToLong()) {
            throw wrong(key, "must be a whole number");
        }
        long number = value.longValue();
        if (number < min || number > max) {
            throw new ContractException(
                    code, path + " " + key + " is out of range: value=" + number + ", min=" + min + ", max=" + max);
        }
        return number;
    }

    /** A finite number. */
    public double number(String key) {
        return finite(key, field(key));
    }

    /** {@code true} or {@code false}. */
    public boolean bool(String key) {
        JsonNode value = field(key);
        if (!value.isBoolean()) {
            throw wrong(key, "must be true or false");
        }
        return value.booleanValue();
    }

    /** Sixteen hexadecimal digits: an unsigned 64-bit number, which JSON's numbers do not carry. */
    public long hex64(String key) {
        String text = string(key);
        if (!text.matches("[0-9a-f]{16}")) {
            throw wrong(key, "must be 16 hexadecimal digits");
        }
        return Long.parseUnsignedLong(text, 16);
    }

    /** SHA-256 as 64 hexadecimal digits. */
    public String sha256(String key) {
        String text = string(key);
        if (!text.matches("[0-9a-f]{64}")) {
            throw wrong(key, "must be 64 hexadecimal digits");
        }
        return text;
    }

    /** Whether a field is there and not null. */
    public boolean has(String key) {
        return node.hasNonNull(key);
    }

    /** An object. */
    public JsonObject object(String key) {
        return object(field(key), path + "." + key);
    }

    /** A list of objects. */
    public List<JsonObject> objects(String key) {
        List<JsonObject> objects = new ArrayList<>();
        for (JsonNode element : array(key)) {
            objects.add(object(element, path + "." + key + "[" + objects.size() + "]"));
        }
        return objects;
    }

    /** A list of texts. */
    public List<String> strings(String key) {
        List<String> strings = new ArrayList<>();
        for (JsonNode element : array(key)) {
            if (!element.isTextual()) {
                throw wrong(key, "must be a list of texts");
            }
            strings.add(element.textValue());
        }
        return strings;
    }

    /** An object of finite numbers, in the document's order. */
    public Map<String, Double> numbers(String key) {
        Map<String, Double> numbers = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry :
                object(field(key), path + "." + key).node.properties()) {
            numbers.put(entry.getKey(), finite(key, entry.getValue()));
        }
        return numbers;
    }

    /** Ends the reading: a field that was not read is an error. */
    public void finish() {
        for (Iterator<String> names = node.fieldNames(); names.hasNext(); ) {
            String name = names.next();
            if (!read.contains(name)) {
                throw new ContractException(code, path + " field is unknown: field=" + name);
            }
        }
    }

    /** An error about a field, for rules this class does not know. */
    public ContractException wrong(String key, String rule) {
        return new ContractException(code, path + " field " + rule + ": field=" + key);
    }

    private JsonObject object(JsonNode value, String valuePath) {
        if (!value.isObject()) {
            throw new ContractException(code, valuePath + " must be a JSON object");
        }
        return new JsonObject(value, valuePath, code);
    }

    private JsonNode array(String key) {
        JsonNode value = field(key);
        if (!value.isArray()) {
            throw wrong(key, "must be a list");
        }
        return value;
    }

    private double finite(String key, JsonNode value) {
        if (!value.isNumber() || !Double.isFinite(value.doubleValue())) {
            throw wrong(key, "must be a finite number");
        }
        return value.doubleValue();
    }

    private JsonNode field(String key) {
        read.add(key);
        JsonNode value = node.get(key);
        if (value == null || value.isNull()) {
            throw wrong(key, "is missing");
        }
        return value;
    }

    private static String reason(IOException failure) {
        return failure.getClass().getSimpleName();
    }
}
