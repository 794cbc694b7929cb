package io.millrace.contract.fitted;

import com.fasterxml.jackson.core.JsonGenerator;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.FeatureSchema;
import io.millrace.contract.JsonObject;
import io.millrace.contract.JsonText;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Task;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The document of a fitted preprocessing, version 1.
 *
 * <pre>
 * { "format-version": 1,
 *   "schema-fingerprint": 16 hexadecimal digits over the columns' names and types,
 *   "width": features of one row,
 *   "fitted-on": { "rows": n, "null-label-rows": n },
 *   "target": { "column": .., "task": "classification", "type": "text", "labels": [..] },
 *   "columns": [ { "name": .., "type": "float64",
 *                  "imputer": { "kind": "median", "value": 2.5, "indicator": false },
 *                  "encoder": { "kind": "one-hot", "levels": [..], "pooled": false },
 *                  "scaler":  { "kind": "standard", "center": 2.5, "scale": 1.118 } } ] }
 * </pre>
 *
 * <p>An imputer of kind none has no value, one of a text column has a level; kind none of the others has no more fields.
 */
final class FittedJson {
    static final int FORMAT_VERSION = 1;

    private static final int DOCUMENT_LIMIT_BYTES = 256 << 20;

    private FittedJson() {}

    static FittedPreprocessing parse(byte[] document) {
        if (document.length > DOCUMENT_LIMIT_BYTES) {
            throw new ContractException(
                    ErrorCode.CORRUPT_FITTED,
                    "fitted is too large: bytes=" + document.length + ", limitBytes=" + DOCUMENT_LIMIT_BYTES);
        }
        JsonObject json = JsonObject.parse(document, "fitted", ErrorCode.CORRUPT_FITTED);
        long version = json.integer("format-version", 0, Integer.MAX_VALUE);
        if (version != FORMAT_VERSION) {
            throw new ContractException(
                    ErrorCode.UNKNOWN_VERSION,
                    "fitted version is unknown: version=" + version + ", expectedVersion=" + FORMAT_VERSION);
        }
        long fingerprint = json.hex64("schema-fingerprint");
        long width = json.integer("width", 1, ModelManifest.WIDTH_LIMIT);
        FittedCounts counts = counts(json.object("fitted-on"));
        TargetMapping target = target(json.object("target"));
        List<FittedColumn> columns = new ArrayList<>();
        for (JsonObject column : json.objects("columns")) {
            columns.add(column(column));
        }
        json.finish();
        FittedPreprocessing fitted = new FittedPreprocessing(columns, target, counts, document);
        FeatureSchema inputs = fitted.inputs();
        if (inputs.fingerprint() != fingerprint) {
            throw new ContractException(
                    ErrorCode.CORRUPT_FITTED,
                    "fitted fingerprint is wrong: fingerprint=" + JsonText.hex64(fingerprint) + ", computed="
                            + JsonText.hex64(inputs.fingerprint()));
        }
        if (fitted.width() != width) {
            throw new ContractException(
                    ErrorCode.CORRUPT_FITTED, "fitted width is wrong: width=" + width + ", computed=" + fitted.width());
        }
        return fitted;
    }

    private static FittedCounts counts(JsonObject json) {
        FittedCounts counts = new FittedCounts(
                json.integer("rows", 0, Long.MAX_VALUE), json.integer("null-label-rows", 0, Long.MAX_VALUE));
        json.finish();
        return counts;
    }

    private static TargetMapping target(JsonObject json) {
        String column = json.string("column");
        Task task = constant(json, "task", Task.values(), Task::text);
        ColumnType type = constant(json, "type", ColumnType.values(), ColumnType::text);
        List<String> labels = json.strings("labels");
        json.finish();
        try {
            return new TargetMapping(column, task, type, labels);
        } catch (ContractException invalid) {
            throw new ContractException(ErrorCode.CORRUPT_FITTED, String.valueOf(invalid.getMessage()), invalid);
        }
    }

    private static FittedColumn column(JsonObject json) {
        FittedColumn column = new FittedColumn(
                json.string("name"),
                constant(json, "type", ColumnType.values(), ColumnType::text),
                imputer(json.object("imputer")),
                encoder(json.object("encoder")),
                scaler(json.object("scaler")));
        json.finish();
        return column;
    }

    private static Imputer imputer(JsonObject json) {
        Imputer.Kind kind = constant(json, "kind", Imputer.Kind.values(), Imputer.Kind::text);
        boolean indicator = json.bool("indicator");
        Imputer imputer;
        if (kind == Imputer.Kind.NONE) {
            imputer = Imputer.none();
        } else if (json.has("level")) {
            imputer = Imputer.of(kind, json.string("level"));
        } else {
            imputer = Imputer.of(kind, json.number("value"));
        }
        json.finish();
        return indicator ? imputer.withIndicator() : imputer;
    }

    private static Encoder encoder(JsonObject json) {
        String kind = json.string("kind");
        Encoder encoder = switch (kind) {
            case "none" -> new Encoder.None();
            case "ordinal" -> new Encoder.Ordinal(json.strings("levels"), json.bool("pooled"));
            case "one-hot" -> new Encoder.OneHot(json.strings("levels"), json.bool("pooled"));
            default -> throw json.wrong("kind", "is unknown");
        };
        json.finish();
        return encoder;
    }

    private static Scaler scaler(JsonObject json) {
        Scaler.Kind kind = constant(json, "kind", Scaler.Kind.values(), Scaler.Kind::text);
        Scaler scaler = kind == Scaler.Kind.NONE
                ? Scaler.none()
                : new Scaler(kind, json.number("center"), json.number("scale"));
        json.finish();
        return scaler;
    }

    /** Names a constant of an enum. */
    private interface Name<T> {
        String of(T constant);
    }

    private static <T> T constant(JsonObject json, String key, T[] constants, Name<T> name) {
        String text = json.string(key);
        for (T constant : constants) {
            if (name.of(constant).equals(text)) {
                return constant;
            }
        }
        throw json.wrong(key, "is unknown");
    }

    static byte[] write(FittedPreprocessing fitted) {
        return JsonText.of(out -> {
            out.writeStartObject();
            out.writeNumberField("format-version", FORMAT_VERSION);
            out.writeStringField(
                    "schema-fingerprint", JsonText.hex64(fitted.inputs().fingerprint()));
            out.writeNumberField("width", fitted.width());
            out.writeObjectFieldStart("fitted-on");
            out.writeNumberField("rows", fitted.counts().rows());
            out.writeNumberField("null-label-rows", fitted.counts().nullLabelRows());
            out.writeEndObject();
            TargetMapping target = fitted.target();
            out.writeObjectFieldStart("target");
            out.writeStringField("column", target.column());
            out.writeStringField("task", target.task().text());
            out.writeStringField("type", target.type().text());
            JsonText.writeTexts(out, "labels", target.labels());
            out.writeEndObject();
            out.writeArrayFieldStart("columns");
            for (FittedColumn column : fitted.columns()) {
                writeColumn(out, column);
            }
            out.writeEndArray();
            out.writeEndObject();
        });
    }

    private static void writeColumn(JsonGenerator out, FittedColumn column) throws IOException {
        out.writeStartObject();
        out.writeStringField("name", column.name());
        out.writeStringField("type", column.type().text());
        Imputer imputer = column.imputer();
        out.writeObjectFieldStart("imputer");
        out.writeStringField("kind", imputer.kind().text());
        if (imputer.level() != null) {
            out.writeStringField("level", imputer.level());
        } else if (imputer.kind() != Imputer.Kind.NONE) {
            out.writeNumberField("value", imputer.value());
        }
        out.writeBooleanField("indicator", imputer.indicator());
        out.writeEndObject();
        writeEncoder(out, column.encoder());
        Scaler scaler = column.scaler();
        out.writeObjectFieldStart("scaler");
        out.writeStringField("kind", scaler.kind().text());
        if (scaler.kind() != Scaler.Kind.NONE) {
            out.writeNumberField("center", scaler.center());
            out.writeNumberField("scale", scaler.scale());
        }
        out.writeEndObject();
        out.writeEndObject();
    }

    private static void writeEncoder(JsonGenerator out, Encoder encoder) throws IOException {
        out.writeObjectFieldStart("encoder");
        if (encoder instanceof Encoder.None) {
            out.writeStringField("kind", "none");
        } else {
            out.writeStringField("kind", encoder instanceof Encoder.Ordinal ? "ordinal" : "one-hot");
            JsonText.writeTexts(out, "levels", FittedColumn.levels(encoder));
            out.writeBooleanField("pooled", FittedColumn.pooled(encoder));
        }
        out.writeEndObject();
    }
}
