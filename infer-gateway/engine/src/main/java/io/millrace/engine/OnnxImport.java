package io.millrace.engine;

import ai.onnxruntime.OnnxJavaType;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Task;
import io.millrace.contract.envelope.ImportRequest;
import io.millrace.contract.fitted.Encoder;
import io.millrace.contract.fitted.FittedColumn;
import io.millrace.contract.fitted.FittedCounts;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.fitted.Imputer;
import io.millrace.contract.fitted.Scaler;
import io.millrace.contract.fitted.TargetMapping;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/*
 * What a graph does not say is not guessed. Its inputs are the task's features or columns, or the numbers the caller
 * names; its answer is the one output that can be one; the order of its classes is the one it names, or that of the
 * task's labels. Then it is tried on made-up rows, and what it answers must agree with all that.
 */

/** Finds out how a graph from elsewhere is asked and read, and tries it. */
final class OnnxImport {
    private static final int NAMES_SHOWN_MAX = 20;

    private final ImportRequest request;
    private final OnnxFile file;
    private final OnnxSession session;
    private final @Nullable FittedPreprocessing given;
    private final boolean matrix;
    private final int batchRows;

    private OnnxImport(ImportRequest request, OnnxFile file, OnnxSession session) {
        this.request = request;
        this.file = file;
        this.session = session;
        String document = request.fitted();
        this.given = document == null ? null : FittedPreprocessing.parse(document.getBytes(StandardCharsets.UTF_8));
        if (given != null && given.target().task() != request.task()) {
            throw new ContractException(
                    ErrorCode.WRONG_TASK,
                    "preprocessing must be of the project's task: task="
                            + given.target().task().text() + ", projectTask="
                            + request.task().text());
        }
        this.matrix = takesMatrix();
        this.batchRows = batchRows();
    }

    /**
     * Makes the files of a package beside its model file: the signature and the preprocessing.
     *
     * @param directory holds the model file
     * @return notes for the caller
     * @throws ContractException {@link ErrorCode#CORRUPT_PACKAGE} if the file is no model the runtime loads, {@link
     *     ErrorCode#UNSUPPORTED_KIND}, {@link ErrorCode#WRONG_TYPE}, {@link ErrorCode#WRONG_LENGTH}, {@link
     *     ErrorCode#UNKNOWN_COLUMN} or {@link ErrorCode#INVALID_LABEL} if it does not fit, {@link
     *     ErrorCode#SCORER_FAILED} if it cannot answer
     */
    static List<String> prepare(Path directory, ImportRequest request) throws IOException {
        Path model = directory.resolve(Engines.ONNX_FILE);
        OnnxFile file = OnnxFile.read(model);
        try (OnnxSession session = OnnxSession.open(model)) {
            return new OnnxImport(request, file, session).prepare(directory);
        }
    }

    private List<String> prepare(Path directory) throws IOException {
        FittedPreprocessing inputs = given == null ? plainInputs(List.of()) : given;
        OnnxTrial trial = new OnnxTrial(session, inputs, matrix);
        OnnxSession.Port output = output();
        OnnxSignature.Scores scores = scores(output);
        List<String> names = classNames(trial, output, scores);
        FittedPreprocessing fitted = given == null ? plainInputs(names) : given;
        List<String> labels = fitted.target().labels();
        OnnxSignature signature = signature(output, scores, names, labels, trial);
        List<String> notes = new ArrayList<>();
        OnnxSignature tried = trial.tried(signature, labels, notes);
        Files.write(directory.resolve(OnnxSignature.FILE_NAME), tried.toJson());
        Files.write(directory.resolve(ModelManifest.FITTED_FILE_NAME), fitted.toJson());
        return notes;
    }

    private OnnxSignature signature(
            OnnxSession.Port output,
            OnnxSignature.Scores scores,
            List<String> names,
            List<String> labels,
            OnnxTrial trial) {
        List<String> classLabels = classLabels(names, labels, scores);
        boolean scored = scores == OnnxSignature.Scores.PROBABILITY || scores == OnnxSignature.Scores.LOGIT;
        if (!scored || output.maps() || names.size() != 2 || trial.answerColumns(output, batchRows) != 1) {
            return new OnnxSignature(matrix, batchRows, output.name(), scores, names, classLabels);
        }
        if (!classLabels.get(1).equals(labels.get(1))) {
            throw new ContractException(
                    ErrorCode.INVALID_LABEL,
                    "model with one score must have that of the second label: output=" + output.name() + ", second="
                            + classLabels.get(1) + ", labels=" + shown(labels));
        }
        return new OnnxSignature(
                matrix, batchRows, output.name(), scores, names.subList(1, 2), classLabels.subList(1, 2));
    }

    // Inputs

    private boolean takesMatrix() {
        List<OnnxSession.Port> inputs = session.inputs();
        if (inputs.size() == 1
                && inputs.get(0).isReal()
                && inputs.get(0).shape().size() == 2) {
            long width = inputs.get(0).shape().get(1);
            if (given == null || width < 0 || width == given.width()) {
                return true;
            }
            if (width != 1 || given.inputs().indexOf(inputs.get(0).name()) < 0) {
                throw new ContractException(
                        ErrorCode.WRONG_LENGTH,
                        "model must take the features of the preprocessing: input="
                                + inputs.get(0).name() + ", width=" + width + ", features=" + given.width());
            }
        }
        for (OnnxSession.Port input : inputs) {
            checkColumn(input);
        }
        if (inputs.isEmpty()) {
            throw new ContractException(ErrorCode.UNSUPPORTED_KIND, "model must have an input: inputs=0");
        }
        return false;
    }

    private void checkColumn(OnnxSession.Port input) {
        if (!input.isColumn()) {
            throw new ContractException(
                    ErrorCode.WRONG_LENGTH,
                    "model input must be a matrix of features alone, or hold one value of a column for each row: input="
                            + input.name() + ", is=" + input.describe() + ", inputs="
                            + session.inputs().size());
        }
        boolean known = input.isReal() || input.type() == OnnxJavaType.INT64 || input.type() == OnnxJavaType.STRING;
        if (!known) {
            throw new ContractException(
                    ErrorCode.WRONG_TYPE,
                    "model input must be float, double, int64 or string: input=" + input.name() + ", is="
                            + input.describe());
        }
        if (given == null) {
            if (input.type() == OnnxJavaType.STRING) {
                throw new ContractException(
                        ErrorCode.WRONG_TYPE,
                        "model that takes texts needs a task with a snapshot: input=" + input.name() + ", is="
                                + input.describe());
            }
            return;
        }
        int index = given.inputs().indexOf(input.name());
        if (index < 0) {
            throw new ContractException(
                    ErrorCode.UNKNOWN_COLUMN,
                    "model input is no column of the task: input=" + input.name() + ", columns="
                            + shown(given.columns().stream()
                                    .map(FittedColumn::name)
                                    .toList()));
        }
        ColumnType column = given.columns().get(index).type();
        if (!fits(input, column)) {
            throw new ContractException(
                    ErrorCode.WRONG_TYPE,
                    "model input must have its column's type: input=" + input.name() + ", is=" + input.describe()
                            + ", column=" + column.text());
        }
    }

    private static boolean fits(OnnxSession.Port input, ColumnType column) {
        return switch (column) {
            case TEXT -> input.type() == OnnxJavaType.STRING;
            case FLOAT64, TIMESTAMP -> input.isReal();
            case BOOLEAN, INT64, DATE -> input.isReal() || input.type() == OnnxJavaType.INT64;
        };
    }

    private static String shown(List<String> names) {
        return String.join(", ", names.subList(0, Math.min(NAMES_SHOWN_MAX, names.size())))
                + (names.size() > NAMES_SHOWN_MAX ? ", .. (" + names.size() + ")" : "");
    }

    /** Rows of every run: what the inputs fix, 0 when they leave it open. */
    private int batchRows() {
        int rows = 0;
        for (OnnxSession.Port input : session.inputs()) {
            long fixed = input.shape().isEmpty() ? -1 : input.shape().get(0);
            if (fixed > 0 && rows > 0 && fixed != rows) {
                throw new ContractException(
                        ErrorCode.WRONG_LENGTH,
                        "model inputs must have one number of rows: input=" + input.name() + ", rows=" + fixed
                                + ", otherRows=" + rows);
            }
            if (fixed > OnnxSignature.BATCH_ROWS_MAX) {
                throw new ContractException(
                        ErrorCode.UNSUPPORTED_KIND,
                        "model must not want too many rows at a time: input=" + input.name() + ", rows=" + fixed
                                + ", limit=" + OnnxSignature.BATCH_ROWS_MAX);
            }
            rows = fixed > 0 ? (int) fixed : rows;
        }
        return rows;
    }

    /** A preprocessing that does nothing, for numbers by position. */
    private FittedPreprocessing plainInputs(List<String> classNames) {
        List<FittedColumn> columns = new ArrayList<>();
        if (matrix) {
            for (String name : featureNames(session.inputs().get(0))) {
                columns.add(plain(name, ColumnType.FLOAT64));
            }
        } else {
            for (OnnxSession.Port input : session.inputs()) {
                columns.add(plain(
                        input.name(), input.type() == OnnxJavaType.INT64 ? ColumnType.INT64 : ColumnType.FLOAT64));
            }
        }
        List<String> labels = request.labels().isEmpty() ? classNames : request.labels();
        return new FittedPreprocessing(columns, target(columns, labels), new FittedCounts(0, 0));
    }

    private static FittedColumn plain(String name, ColumnType type) {
        return new FittedColumn(name, type, Imputer.none(), Encoder.none(), Scaler.none());
    }

    private List<String> featureNames(OnnxSession.Port input) {
        long width = input.shape().get(1);
        List<String> named = request.features();
        if (width < 0 && named.isEmpty()) {
            throw new ContractException(
                    ErrorCode.WRONG_LENGTH,
                    "model does not say how many features it takes, so they must be named: input=" + input.name()
                            + ", is=" + input.describe());
        }
        if (width > 0 && !named.isEmpty() && named.size() != width) {
            throw new ContractException(
                    ErrorCode.WRONG_LENGTH,
                    "as many features must be named as the model takes: input=" + input.name() + ", width=" + width
                            + ", features=" + named.size());
        }
        return named.isEmpty()
                ? IntStream.rangeClosed(1, (int) width)
                        .mapToObj(index -> "x" + index)
                        .toList()
                : named;
    }

    /** Numbers are put in order as numbers, so that the tenth class is not the second. */
    private TargetMapping target(List<FittedColumn> columns, List<String> labels) {
        String name = "label";
        while (columns.stream().map(FittedColumn::name).anyMatch(name::equals)) {
            name += "_";
        }
        if (request.task() == Task.REGRESSION || labels.size() < 2) {
            return TargetMapping.regression(name, ColumnType.FLOAT64);
        }
        boolean whole = labels.stream().allMatch(label -> label.matches("-?[1-9][0-9]{0,17}|0"));
        return TargetMapping.classification(name, whole ? ColumnType.INT64 : ColumnType.TEXT, labels);
    }

    // The answer

    private OnnxSession.Port output() {
        String wanted = request.output();
        List<OnnxSession.Port> candidates = session.outputs().stream()
                .filter(port -> wanted == null ? isScore(port) : port.name().equals(wanted))
                .toList();
        if (candidates.isEmpty() && wanted == null && request.task() == Task.CLASSIFICATION) {
            candidates = session.outputs().stream().filter(OnnxImport::isLabel).toList();
        }
        if (candidates.size() == 1 && (isScore(candidates.get(0)) || isLabel(candidates.get(0)))) {
            return candidates.get(0);
        }
        String outputs = shown(session.outputs().stream()
                .map(port -> port.name() + " " + port.describe())
                .toList());
        throw new ContractException(
                ErrorCode.UNSUPPORTED_KIND,
                (candidates.size() > 1 && wanted == null
                                ? "model has several outputs that can be the answer, option output names one: task="
                                : "model has no output that can be the answer: task=")
                        + request.task().text()
                        + (wanted == null ? "" : ", output=" + wanted) + ", outputs=" + outputs);
    }

    private boolean isScore(OnnxSession.Port port) {
        if (request.task() == Task.REGRESSION) {
            return !port.maps() && port.isColumn() && (port.isReal() || port.type() == OnnxJavaType.INT64);
        }
        return (port.maps() && port.type() == OnnxJavaType.FLOAT)
                || (port.isReal() && port.shape().size() <= 2);
    }

    static boolean isLabel(OnnxSession.Port port) {
        return !port.maps()
                && port.isColumn()
                && (port.type() == OnnxJavaType.INT64 || port.type() == OnnxJavaType.STRING);
    }

    private OnnxSignature.Scores scores(OnnxSession.Port output) {
        String wanted = request.scores();
        if (request.task() == Task.REGRESSION) {
            return OnnxSignature.Scores.VALUE;
        }
        if (!isScore(output)) {
            return OnnxSignature.Scores.LABEL;
        }
        return OnnxSignature.Scores.LOGIT.text().equals(wanted)
                ? OnnxSignature.Scores.LOGIT
                : OnnxSignature.Scores.PROBABILITY;
    }

    // The classes

    /** The model's names of its classes in the order of its scores: its own, the caller's, or the task's labels. */
    private List<String> classNames(OnnxTrial trial, OnnxSession.Port output, OnnxSignature.Scores scores) {
        if (scores == OnnxSignature.Scores.VALUE) {
            return List.of();
        }
        List<String> known = !request.labels().isEmpty()
                ? request.labels()
                : given == null ? List.of() : given.target().labels();
        if (output.maps()) {
            List<String> keys = new ArrayList<>(trial.mapKeys(output, batchRows));
            keys.sort(Comparator.comparing(String::length).thenComparing(Comparator.naturalOrder()));
            return file.classes().size() == keys.size() && file.classes().containsAll(keys) ? file.classes() : keys;
        }
        if (scores == OnnxSignature.Scores.LABEL) {
            return labelNames(output, known);
        }
        int count = trial.answerColumns(output, batchRows);
        if (file.classes().size() == count && count > 1) {
            return file.classes();
        }
        if (count == 1) {
            return secondOf(known);
        }
        if (!known.isEmpty() && known.size() != count) {
            throw wrongClasses("model must have as many classes as the task", count, known);
        }
        return known.isEmpty()
                ? IntStream.range(0, count).mapToObj(Integer::toString).toList()
                : known;
    }

    private List<String> labelNames(OnnxSession.Port output, List<String> known) {
        if (!file.classes().isEmpty()) {
            return file.classes();
        }
        if (known.isEmpty()) {
            throw new ContractException(
                    ErrorCode.INVALID_LABEL,
                    "model does not name its classes, so option labels must: output=" + output.name());
        }
        // Without names a number is the index of the class.
        boolean numbers = output.type() == OnnxJavaType.INT64;
        boolean named = known.stream().allMatch(label -> label.matches("-?[0-9]{1,18}"));
        return numbers && !named
                ? IntStream.range(0, known.size()).mapToObj(Integer::toString).toList()
                : known;
    }

    private List<String> secondOf(List<String> known) {
        List<String> two = known.isEmpty() ? List.of("0", "1") : known;
        if (two.size() != 2) {
            throw wrongClasses("model with one score must have two classes", 1, two);
        }
        return two;
    }

    /** The task's label of each class: the one of its name, or of its index where its names are the indexes. */
    private List<String> classLabels(List<String> names, List<String> labels, OnnxSignature.Scores scores) {
        if (scores == OnnxSignature.Scores.VALUE) {
            return List.of();
        }
        if (!request.labels().isEmpty()) {
            if (request.labels().size() != names.size() || !labels.containsAll(request.labels())) {
                throw wrongClasses(
                        "option labels must name the label of each class of the model", names.size(), labels);
            }
            return request.labels();
        }
        if (names.size() == labels.size() && labels.containsAll(names)) {
            return names;
        }
        List<String> indexes =
                IntStream.range(0, labels.size()).mapToObj(Integer::toString).toList();
        if (names.size() == labels.size() && indexes.containsAll(names)) {
            return names.stream()
                    .map(name -> labels.get(Integer.parseInt(name)))
                    .toList();
        }
        throw new ContractException(
                ErrorCode.INVALID_LABEL,
                "model must have the task's classes: classes=" + shown(names) + ", labels=" + shown(labels));
    }

    private static ContractException wrongClasses(String rule, int count, List<String> labels) {
        return new ContractException(
                ErrorCode.INVALID_LABEL,
                rule + ": classes=" + count + ", labels=" + labels.size() + " (" + shown(labels) + ")");
    }
}
