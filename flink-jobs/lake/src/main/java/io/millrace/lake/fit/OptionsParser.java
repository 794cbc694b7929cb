package io.millrace.lake.fit;

import com.fasterxml.jackson.databind.JsonNode;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Nearest;
import io.millrace.contract.fitted.Imputer;
import io.millrace.contract.fitted.Scaler;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code preprocess}: {@code {"default": "tree" | "linear", "<column>": {option: value, ..}, ..}}. Every name and value that is
 * not understood is an error that says which ones are.
 */
final class OptionsParser {
    private static final String DEFAULT = "default";
    private static final List<String> STRATEGIES = List.of("tree", "linear");
    private static final List<String> OPTIONS =
            List.of("impute", "value", "indicator", "encode", "scale", "min-frequency", "max-levels");
    private static final int MAX_LEVELS_LIMIT = 16_384;

    private OptionsParser() {}

    /**
     * The options of each feature.
     *
     * @param features names and types, in order
     * @throws ContractException {@link ErrorCode#UNKNOWN_COLUMN} if a column is no feature; {@link ErrorCode#INVALID_VALUE} if an
     *     option or its value is not understood or does not fit the type
     */
    static Map<String, Options> parse(@Nullable JsonNode preprocess, Map<String, ColumnType> features) {
        Map<String, JsonNode> members = members(preprocess, features);
        boolean linear = isLinear(members.get(DEFAULT), features.containsKey(DEFAULT));
        Map<String, Options> options = new LinkedHashMap<>();
        features.forEach((column, type) -> {
            boolean text = type == ColumnType.TEXT;
            Options byDefault = linear ? Options.linear(text) : Options.tree(text);
            JsonNode given = members.get(column);
            options.put(
                    column, given == null || !given.isObject() ? byDefault : column(column, type, given, byDefault));
        });
        return options;
    }

    private static Map<String, JsonNode> members(@Nullable JsonNode preprocess, Map<String, ColumnType> features) {
        if (preprocess == null || preprocess.isNull() || preprocess.isMissingNode()) {
            return Map.of();
        }
        if (!preprocess.isObject()) {
            throw invalid("preprocess must be an object: type=" + kind(preprocess));
        }
        Map<String, JsonNode> members = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> member : preprocess.properties()) {
            String name = member.getKey();
            if (name.equals(DEFAULT) && !member.getValue().isObject()) {
                members.put(name, member.getValue());
                continue;
            }
            if (!features.containsKey(name)) {
                throw new ContractException(
                        ErrorCode.UNKNOWN_COLUMN,
                        "preprocess names a column that is no feature: column=" + name
                                + Nearest.of(name, features.keySet())
                                        .map(near -> ", nearest=" + near)
                                        .orElse(""));
            }
            if (!member.getValue().isObject()) {
                throw invalid("preprocess of a column must be an object: column=" + name + ", type="
                        + kind(member.getValue()));
            }
            members.put(name, member.getValue());
        }
        return members;
    }

    private static boolean isLinear(@Nullable JsonNode given, boolean isColumn) {
        if (given == null || (isColumn && given.isObject())) {
            return false;
        }
        String strategy = given.isTextual() ? given.asText() : given.toString();
        if (!STRATEGIES.contains(strategy)) {
            throw invalid("preprocess default is unknown: default=" + strategy + ", valid=" + STRATEGIES);
        }
        return strategy.equals("linear");
    }

    private static Options column(String column, ColumnType type, JsonNode given, Options byDefault) {
        given.fieldNames().forEachRemaining(option -> {
            if (!OPTIONS.contains(option)) {
                throw invalid("preprocess option is unknown: column=" + column + ", option=" + option + ", valid="
                        + new TreeSet<>(OPTIONS));
            }
        });
        Options.Encode encode =
                choice(column, given, "encode", Options.Encode.values(), byDefault.encode(), Enum::name);
        Imputer.Kind impute =
                choice(column, given, "impute", Imputer.Kind.values(), byDefault.impute(), Imputer.Kind::text);
        boolean levels = encode != Options.Encode.NONE;
        if (levels && !given.has("impute") && byDefault.encode() == Options.Encode.NONE) {
            impute = Imputer.Kind.NONE; // a mean of levels has no meaning, so the default of numbers does not apply
        }
        boolean oneHot = encode == Options.Encode.ONE_HOT;
        Scaler.Kind scaleDefault = levels ? Scaler.Kind.NONE : byDefault.scale();
        Scaler.Kind scale = choice(column, given, "scale", Scaler.Kind.values(), scaleDefault, Scaler.Kind::text);
        check(column, type, encode, impute, scale);
        boolean sameEncode = encode == byDefault.encode();
        double minFrequency = number(
                column,
                given,
                "min-frequency",
                sameEncode ? byDefault.minFrequency() : oneHot ? Options.ONE_HOT_FREQUENCY : 0,
                0,
                Long.MAX_VALUE);
        int maxLevels = (int) number(
                column,
                given,
                "max-levels",
                sameEncode ? byDefault.maxLevels() : oneHot ? Options.ONE_HOT_LEVELS : Options.ORDINAL_LEVELS,
                1,
                MAX_LEVELS_LIMIT);
        boolean text = type == ColumnType.TEXT;
        JsonNode value = constant(column, given, impute);
        return new Options(
                impute,
                value == null || text ? 0 : constantNumber(column, type, value),
                value == null || !text ? null : constantText(column, value),
                flag(column, given, "indicator", byDefault.indicator()),
                encode,
                scale,
                minFrequency,
                maxLevels);
    }

    private static void check(
            String column, ColumnType type, Options.Encode encode, Imputer.Kind impute, Scaler.Kind scale) {
        boolean text = type == ColumnType.TEXT;
        boolean levels = encode != Options.Encode.NONE;
        if (text && !levels) {
            throw invalid("text column must be encoded: column=" + column + ", valid=[ordinal, one-hot]");
        }
        if (levels && !text && type != ColumnType.INT64 && type != ColumnType.BOOLEAN) {
            throw invalid("only text, integer and boolean columns can be encoded: column=" + column + ", type="
                    + type.text());
        }
        if (levels && (impute == Imputer.Kind.MEAN || impute == Imputer.Kind.MEDIAN)) {
            throw invalid("encoded column cannot be imputed by its " + impute.text() + ": column=" + column
                    + ", valid=[none, most-frequent, constant]");
        }
        if (encode == Options.Encode.ONE_HOT && scale != Scaler.Kind.NONE) {
            throw invalid("one-hot column cannot be scaled: column=" + column + ", scale=" + scale.text());
        }
    }

    private static @Nullable JsonNode constant(String column, JsonNode given, Imputer.Kind impute) {
        JsonNode value = given.get("value");
        boolean present = value != null && !value.isNull();
        if (present != (impute == Imputer.Kind.CONSTANT)) {
            throw invalid("preprocess value must be given exactly when impute is constant: column=" + column
                    + ", impute=" + impute.text());
        }
        return present ? value : null;
    }

    private static String constantText(String column, JsonNode value) {
        if (!value.isTextual()) {
            throw invalid("preprocess value must be a text: column=" + column + ", type=" + kind(value));
        }
        return value.asText();
    }

    private static double constantNumber(String column, ColumnType type, JsonNode value) {
        if (value.isNumber()) {
            return value.asDouble();
        }
        if (type == ColumnType.BOOLEAN && value.isBoolean()) {
            return value.asBoolean() ? 1 : 0;
        }
        try {
            if (type == ColumnType.DATE && value.isTextual()) {
                return LocalDate.parse(value.asText()).toEpochDay();
            }
            if (type == ColumnType.TIMESTAMP && value.isTextual()) {
                return LocalDateTime.parse(value.asText().replace(' ', 'T')).toEpochSecond(ZoneOffset.UTC);
            }
        } catch (DateTimeException notADate) {
            // Said below.
        }
        throw invalid("preprocess value does not fit the column: column=" + column + ", type=" + type.text());
    }

    private static boolean flag(String column, JsonNode given, String option, boolean byDefault) {
        JsonNode node = given.get(option);
        if (node == null) {
            return byDefault;
        }
        if (!node.isBoolean()) {
            throw invalid("preprocess option must be true or false: column=" + column + ", option=" + option);
        }
        return node.asBoolean();
    }

    private static double number(
            String column, JsonNode given, String option, double byDefault, double min, double max) {
        JsonNode node = given.get(option);
        if (node == null) {
            return byDefault;
        }
        if (!node.isNumber() || !(node.asDouble() >= min) || node.asDouble() > max) {
            throw invalid("preprocess option is out of range: column=" + column + ", option=" + option + ", value="
                    + node + ", min=" + (long) min + ", max=" + (long) max);
        }
        return node.asDouble();
    }

    private static <T extends Enum<T>> T choice(
            String column, JsonNode given, String option, T[] values, T byDefault, Function<T, String> name) {
        JsonNode node = given.get(option);
        if (node == null) {
            return byDefault;
        }
        List<String> valid = new ArrayList<>();
        for (T value : values) {
            String text = name.apply(value).toLowerCase(Locale.ROOT).replace('_', '-');
            valid.add(text);
            if (node.isTextual() && node.asText().equals(text)) {
                return value;
            }
        }
        throw invalid("preprocess option has no such value: column=" + column + ", option=" + option + ", value=" + node
                + ", valid=" + valid);
    }

    private static String kind(JsonNode node) {
        return node.getNodeType().name().toLowerCase(Locale.ROOT);
    }

    private static ContractException invalid(String message) {
        return new ContractException(ErrorCode.INVALID_VALUE, message);
    }
}
