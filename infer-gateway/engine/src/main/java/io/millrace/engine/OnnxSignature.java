package io.millrace.engine;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.JsonObject;
import io.millrace.contract.JsonText;
import java.util.List;
import java.util.Locale;

/**
 * How a graph is asked and its answer read: what was found out, and tried, when the model came in; the file {@value
 * #FILE_NAME} of its package.
 *
 * @param matrix whether its one input is the matrix of features; otherwise each input is the column of its name
 * @param batchRows rows of every run, the last ones made up; 0 for any number
 * @param output which output is the answer
 * @param scores what that output holds
 * @param classNames the model's own names of its classes, in the order of its scores; empty for regression
 * @param classLabels the label of each of them; for two classes and one score only the second label
 */
record OnnxSignature(
        boolean matrix,
        int batchRows,
        String output,
        Scores scores,
        List<String> classNames,
        List<String> classLabels) {
    static final String FILE_NAME = "onnx.json";

    /** Rows that a graph may want in every run; each run needs memory for all of them. */
    static final int BATCH_ROWS_MAX = 4096;

    private static final int FORMAT_VERSION = 1;

    /** What the output of a graph holds. */
    enum Scores {
        /** The number a regression is about. */
        VALUE,
        /** A probability for each class, or that of the second of two. */
        PROBABILITY,
        /** The same before softmax or sigmoid. */
        LOGIT,
        /** The name of the class. */
        LABEL;

        /** Its name in JSON and SQL: lower case. */
        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    OnnxSignature {
        classNames = List.copyOf(classNames);
        classLabels = List.copyOf(classLabels);
    }

    /** The same, asked a number of rows at a time. */
    OnnxSignature withBatchRows(int rows) {
        return new OnnxSignature(matrix, rows, output, scores, classNames, classLabels);
    }

    /**
     * Reads the document.
     *
     * @throws ContractException {@link ErrorCode#UNKNOWN_VERSION} if another version wrote it, {@link
     *     ErrorCode#CORRUPT_PACKAGE} if anything else is wrong
     */
    static OnnxSignature parse(byte[] document) {
        JsonObject json = JsonObject.parse(document, "model signature", ErrorCode.CORRUPT_PACKAGE);
        long version = json.integer("format-version", 0, Integer.MAX_VALUE);
        if (version != FORMAT_VERSION) {
            throw new ContractException(
                    ErrorCode.UNKNOWN_VERSION,
                    "model signature version is unknown: version=" + version + ", expectedVersion=" + FORMAT_VERSION);
        }
        OnnxSignature signature = new OnnxSignature(
                json.bool("matrix"),
                (int) json.integer("batch-rows", 0, BATCH_ROWS_MAX),
                json.string("output"),
                scores(json),
                json.strings("class-names"),
                json.strings("class-labels"));
        json.finish();
        if (signature.classNames.size() != signature.classLabels.size()) {
            throw json.wrong("class-labels", "must have one label for each name");
        }
        return signature;
    }

    private static Scores scores(JsonObject json) {
        String text = json.string("scores");
        for (Scores scores : Scores.values()) {
            if (scores.text().equals(text)) {
                return scores;
            }
        }
        throw json.wrong("scores", "is unknown");
    }

    /** The document's bytes; {@link #parse} reads them back equal. */
    byte[] toJson() {
        return JsonText.of(out -> {
            out.writeStartObject();
            out.writeNumberField("format-version", FORMAT_VERSION);
            out.writeBooleanField("matrix", matrix);
            out.writeNumberField("batch-rows", batchRows);
            out.writeStringField("output", output);
            out.writeStringField("scores", scores.text());
            JsonText.writeTexts(out, "class-names", classNames);
            JsonText.writeTexts(out, "class-labels", classLabels);
            out.writeEndObject();
        });
    }
}
