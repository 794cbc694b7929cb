package io.millrace.engine;

import com.sun.jna.Library;
import com.sun.jna.Pointer;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import ml.dmlc.xgboost4j.java.Booster;
import ml.dmlc.xgboost4j.java.DMatrix;
import ml.dmlc.xgboost4j.java.XGBoost;
import ml.dmlc.xgboost4j.java.XGBoostError;

/** Small models trained on made-up rows, by XGBoost itself. */
final class TestingForests {
    private TestingForests() {}

    /**
     * Made-up rows; a few missing, some repeated small integers (as ordinal codes are), some extreme.
     *
     * <p>Shape: {@code rowCount x width}, row-major.
     */
    static float[] rows(long seed, int rowCount, int width, double missing) {
        SplittableRandom random = new SplittableRandom(seed);
        float[] rows = new float[rowCount * width];
        for (int index = 0; index < rows.length; index++) {
            double kind = random.nextDouble();
            if (kind < missing) {
                rows[index] = Float.NaN;
            } else if (index % width % 3 == 0) {
                rows[index] = random.nextInt(-1, 6);
            } else if (kind > 0.995) {
                rows[index] = random.nextBoolean() ? Float.MAX_VALUE : -0.0f;
            } else {
                rows[index] = (float) (random.nextDouble() * 4 - 2);
            }
        }
        return rows;
    }

    /** Labels that depend on the rows, and a little on chance; {@code classCount} 0 gives positive numbers. */
    static float[] labels(long seed, float[] rows, int width, int classCount) {
        SplittableRandom random = new SplittableRandom(seed + 1);
        float[] labels = new float[rows.length / width];
        for (int row = 0; row < labels.length; row++) {
            double sum = random.nextDouble();
            for (int feature = 0; feature < width; feature++) {
                float value = rows[row * width + feature];
                sum += Float.isNaN(value) ? 0.5 : Math.abs(Math.sin((double) value * (feature + 1)));
            }
            labels[row] = classCount == 0 ? (float) sum : (float) ((long) (sum * 1.7) % classCount);
        }
        return labels;
    }

    /** Trains with XGBoost; one thread, so that a seed gives one model. */
    static Booster train(float[] rows, float[] labels, int width, int rounds, Map<String, Object> parameters)
            throws XGBoostError {
        DMatrix matrix = new DMatrix(rows, labels.length, width, Float.NaN);
        try {
            matrix.setLabel(labels);
            if (String.valueOf(parameters.get("objective")).startsWith("rank:")) {
                matrix.setGroup(new int[] {labels.length});
            }
            if ("survival:aft".equals(parameters.get("objective"))) {
                boundLabels(matrix, labels);
            }
            Map<String, Object> all = new HashMap<>(parameters);
            all.put("nthread", 1);
            all.put("verbosity", 0);
            return XGBoost.train(matrix, all, rounds, Map.of(), null, null);
        } finally {
            matrix.dispose();
        }
    }

    private interface BoundsView extends Library {
        int XGDMatrixSetFloatInfo(Pointer matrix, String field, float[] values, long count);
    }

    /** The times of a survival model: known, and of every third row only that it is not below. */
    private static void boundLabels(DMatrix matrix, float[] labels) {
        float[] upper = labels.clone();
        for (int row = 0; row < upper.length; row += 3) {
            upper[row] = Float.POSITIVE_INFINITY;
        }
        BoundsView view = XgboostLibrary.open(BoundsView.class);
        Pointer handle = new Pointer(matrix.getHandle());
        view.XGDMatrixSetFloatInfo(handle, "label_lower_bound", labels, labels.length);
        view.XGDMatrixSetFloatInfo(handle, "label_upper_bound", upper, upper.length);
    }

    /** What XGBoost's own Java interface answers, row-major. */
    static float[] predict(Booster booster, float[] rows, int width) throws XGBoostError {
        float[][] answers = booster.inplace_predict(rows, rows.length / width, width, Float.NaN);
        float[] flat = new float[answers.length * answers[0].length];
        for (int row = 0; row < answers.length; row++) {
            System.arraycopy(answers[row], 0, flat, row * answers[0].length, answers[0].length);
        }
        return flat;
    }

    /** Writes the model file alone. */
    static Path write(Booster booster, Path directory) throws XGBoostError, IOException {
        return Files.write(directory.resolve(Engines.XGBOOST_FILE), booster.toByteArray("ubj"));
    }

    /** A manifest that fits a model; {@code classCount} 0 for regression. */
    static ModelManifest manifest(int width, int classCount) {
        List<String> labels = IntStream.range(0, classCount)
                .mapToObj(index -> "label-" + index)
                .toList();
        return new ModelManifest(
                ModelManifest.FORMAT_VERSION,
                "testing",
                1,
                "testing",
                1,
                "xgboost",
                classCount == 0 ? Task.REGRESSION : Task.CLASSIFICATION,
                null,
                Engines.XGBOOST_FORMAT,
                List.of(),
                "0".repeat(64),
                0,
                width,
                labels,
                Map.of(),
                "2026-01-01T00:00:00Z");
    }
}
