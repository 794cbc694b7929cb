package io.millrace.gateway.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A document as maps, lists, String, Long, Double, Boolean and null. */
final class TestingJson {
    private TestingJson() {}

    static @Nullable Object parse(String document) {
        try (JsonParser in = new JsonFactory().createParser(document)) {
            return value(in, in.nextToken());
        } catch (IOException e) {
            throw new AssertionError(document, e);
        }
    }

    private static @Nullable Object value(JsonParser in, JsonToken token) throws IOException {
        return switch (token) {
            case START_OBJECT -> {
                Map<String, @Nullable Object> object = new LinkedHashMap<>();
                while (in.nextToken() != JsonToken.END_OBJECT) {
                    String name = in.currentName();
                    object.put(name, value(in, in.nextToken()));
                }
                yield object;
            }
            case START_ARRAY -> {
                List<@Nullable Object> array = new ArrayList<>();
                for (JsonToken next = in.nextToken(); next != JsonToken.END_ARRAY; next = in.nextToken()) {
                    array.add(value(in, next));
                }
                yield array;
            }
            case VALUE_STRING -> in.getText();
            case VALUE_NUMBER_INT -> in.getLongValue();
            case VALUE_NUMBER_FLOAT -> in.getDoubleValue();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            default -> null;
        };
    }

    /** A member of an object, or an element of an array, by names and indices. */
    static @Nullable Object at(@Nullable Object document, Object... path) {
        Object present = document;
        for (Object step : path) {
            present = step instanceof Integer index
                    ? ((List<?>) Objects.requireNonNull(present)).get(index)
                    : ((Map<?, ?>) Objects.requireNonNull(present)).get(step);
        }
        return present;
    }
}
