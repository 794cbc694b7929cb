package io.millrace.engine;

import io.millrace.contract.ColumnType;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Sha256;
import io.millrace.contract.Task;
import io.millrace.contract.fitted.BoundTransform;
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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import ml.dmlc.xgboost4j.java.Booster;
import ml.dmlc.xgboost4j.java.XGBoostError;
import org.jspecify.annotations.Nullable;

/**
 * Complete model packages, trained in this process in well under a second.
 *
 * <p>The made-up table has the columns {@code tenure} bigint, {@code charge} double precision, {@code plan} text, {@code
 * active} boolean, {@code joined} date, all but {@code tenure} sometimes NULL, and the label {@code outcome}.
 */
public final class TestingModels {
    /** Rows in a package's evaluation. */
    public static final int TEST_ROWS = 100;

    private static final int TRAINING_ROWS = 400;
    private static final List<String> PLANS = List.of("basic", "gold", "silver", "wörk 🚀");

    private TestingModels() {}

    /**
     * A package on the local disk.
     *
     * @param directory holds model.ubj, fitted.json, evaluation.csv and manifest.json
     * @param manifest parsed
     * @param manifestSha256 as the database would hold it
     * @param fitted the same as in fitted.json
     * @param testRows rows of the evaluation, inputs in the order of the schema
     * @param testScores what the evaluation says of each row, {@code outputs} values each: XGBoost's own answers
     */
    public record TestingPackage(
            Path directory,
            ModelManifest manifest,
            String manifestSha256,
            FittedPreprocessing fitted,
            List<TestingRow> testRows,
            List<List<Float>> testScores) {}

    /** Two labels, {@code no} and {@code yes}; one output. */
    public static TestingPackage binary(Path directory, long seed) {
        return write(directory, seed, List.of("no", "yes"), 20);
    }

    /** Three labels, {@code high}, {@code low} and {@code middle}; three outputs. */
    public static TestingPackage multiclass(Path directory, long seed) {
        return write(directory, seed, List.of("high", "low", "middle"), 15);
    }

    /** A number; one output. */
    public static TestingPackage regression(Path directory, long seed) {
        return write(directory, seed, List.of(), 20);
    }

    /**
     * A package with a chosen size.
     *
     * @param directory made if absent, must be empty
     * @param seed another seed gives other rows and another model
     * @param labels sorted; empty for regression
     * @param rounds of boosting
     */
    public static TestingPackage write(Path directory, long seed, List<String> labels, int rounds) {
        FittedPreprocessing fitted = fitted(labels);
        BoundTransform transform = fitted.bind(fitted.inputs().columns());
        List<TestingRow> rows = rows(seed, TRAINING_ROWS + TEST_ROWS);
        float[] features = new float[rows.size() * fitted.width()];
        float[] outcomes = new float[rows.size()];
        SplittableRandom random = new SplittableRandom(seed + 1);
        for (int row = 0; row < rows.size(); row++) {
            transform.apply(rows.get(row), features, row * fitted.width());
            outcomes[row] = outcome(rows.get(row), random.nextDouble(), labels.size());
        }
        float[] training = Arrays.copyOf(features, TRAINING_ROWS * fitted.width());
        float[] test = Arrays.copyOfRange(features, TRAINING_ROWS * fitted.width(), features.length);
        List<TestingRow> testRows = List.copyOf(rows.subList(TRAINING_ROWS, rows.size()));
        try {
            Files.createDirectories(directory);
            Booster booster = TestingForests.train(
                    training,
                    Arrays.copyOf(outcomes, TRAINING_ROWS),
                    fitted.width(),
                    rounds,
                    parameters(seed, labels.size()));
            TestingForests.write(booster, directory);
            List<List<Float>> scores = scores(TestingForests.predict(booster, test, fitted.width()));
            booster.dispose();
            Files.write(directory.resolve(ModelManifest.FITTED_FILE_NAME), fitted.toJson());
            Files.writeString(
                    directory.resolve("evaluation.csv"), evaluation(scores, outcomes, labels), StandardCharsets.UTF_8);
            ModelManifest manifest = manifest(directory, fitted, seed, labels);
            byte[] manifestBytes = manifest.toJson();
            Files.write(directory.resolve(ModelManifest.FILE_NAME), manifestBytes);
            return new TestingPackage(directory, manifest, Sha256.hex(manifestBytes), fitted, testRows, scores);
        } catch (XGBoostError | IOException e) {
            throw new IllegalStateException("testing package cannot be written: directory=" + directory, e);
        }
    }

    /** The preprocessing that trees get by default: NULL is NaN, text is an ordinal code. */
    public static FittedPreprocessing fitted(List<String> labels) {
        List<FittedColumn> columns = List.of(
                column("tenure", ColumnType.INT64, Encoder.none()),
                column("charge", ColumnType.FLOAT64, Encoder.none()),
                column("plan", ColumnType.TEXT, new Encoder.Ordinal(PLANS, false)),
                column("active", ColumnType.BOOLEAN, Encoder.none()),
                column("joined", ColumnType.DATE, Encoder.none()));
        TargetMapping target = labels.isEmpty()
                ? TargetMapping.regression("outcome", ColumnType.FLOAT64)
                : TargetMapping.classification("outcome", ColumnType.TEXT, labels);
        return new FittedPreprocessing(columns, target, new FittedCounts(TRAINING_ROWS + TEST_ROWS, 0));
    }

    private static FittedColumn column(String name, ColumnType type, Encoder encoder) {
        return new FittedColumn(name, type, Imputer.none(), encoder, Scaler.none());
    }

    /** Rows of the made-up table, inputs only. */
    public static List<TestingRow> rows(long seed, int count) {
        SplittableRandom random = new SplittableRandom(seed);
        return IntStream.range(0, count)
                .mapToObj(row -> TestingRow.of(
                        random.nextLong(0, 72),
                        sometimes(random, random.nextInt(2000) / 16.0),
                        sometimes(random, PLANS.get(random.nextInt(PLANS.size()))),
                        sometimes(random, random.nextBoolean()),
                        sometimes(random, 18_000L + random.nextInt(2000))))
                .toList();
    }

    private static @Nullable Object sometimes(SplittableRandom random, Object value) {
        return random.nextInt(20) == 0 ? null : value;
    }

    private static float outcome(TestingRow row, double chance, int labelCount) {
        double charge = row.isNull(1) ? 60 : row.float64(1);
        double plan = row.isNull(2) ? 1 : PLANS.indexOf(row.text(2));
        double value = charge / 50 + plan / 2 - row.int64(0) / 40.0 + chance;
        return labelCount == 0 ? (float) value : (float) Math.max(0, Math.min(labelCount - 1, Math.floor(value)));
    }

    private static Map<String, Object> parameters(long seed, int labelCount) {
        if (labelCount > 2) {
            return Map.of("objective", "multi:softprob", "num_class", labelCount, "max_depth", 4, "seed", seed);
        }
        return Map.of(
                "objective", labelCount == 0 ? "reg:squarederror" : "binary:logistic", "max_depth", 5, "seed", seed);
    }

    private static List<List<Float>> scores(float[] answers) {
        int outputs = answers.length / TEST_ROWS;
        List<List<Float>> scores = new ArrayList<>();
        for (int row = 0; row < TEST_ROWS; row++) {
            List<Float> values = new ArrayList<>();
            for (int output = 0; output < outputs; output++) {
                values.add(answers[row * outputs + output]);
            }
            scores.add(List.copyOf(values));
        }
        return List.copyOf(scores);
    }

    private static String evaluation(List<List<Float>> scores, float[] outcomes, List<String> labels) {
        StringBuilder csv = new StringBuilder("key,label,score\n");
        for (int row = 0; row < scores.size(); row++) {
            float outcome = outcomes[TRAINING_ROWS + row];
            String label = labels.isEmpty() ? String.valueOf(outcome) : labels.get((int) outcome);
            csv.append(row).append(',').append(label);
            scores.get(row).forEach(score -> csv.append(',').append(score));
            csv.append('\n');
        }
        return csv.toString();
    }

    private static ModelManifest manifest(Path directory, FittedPreprocessing fitted, long seed, List<String> labels)
            throws IOException {
        List<ModelManifest.FileEntry> files = new ArrayList<>();
        for (String name : List.of(Engines.XGBOOST_FILE, ModelManifest.FITTED_FILE_NAME, "evaluation.csv")) {
            Path file = directory.resolve(name);
            files.add(new ModelManifest.FileEntry(name, Files.size(file), Sha256.hex(file)));
        }
        return new ModelManifest(
                ModelManifest.FORMAT_VERSION,
                "testing",
                1,
                "testing",
                seed,
                "xgboost",
                labels.isEmpty() ? Task.REGRESSION : Task.CLASSIFICATION,
                null,
                Engines.XGBOOST_FORMAT,
                files,
                fitted.fittedId(),
                fitted.inputs().fingerprint(),
                fitted.width(),
                labels,
                Map.of(),
                "2026-01-01T00:00:00Z");
    }
}
