package io.millrace.train.child;

import io.millrace.contract.Task;
import io.millrace.contract.fitted.TargetMapping;
import io.millrace.engine.Scorer;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Scores test rows in batches and measures the scores.
 *
 * <p>The file holds one line per row: {@code key,label,score} and, with more than two classes, the probability of each in
 * {@code p0,p1,..}. {@code score} is what {@code ml.predict} answers for the row: the value of a regression, the
 * probability of the second of two classes, else the index of the most probable class.
 */
final class Evaluation {
    private static final int BATCH_ROWS = 512;

    private final Scorer scorer;
    private final TargetMapping target;
    private final int outputs;
    private final BinaryMetrics binary = new BinaryMetrics();
    private final RegressionMetrics regression = new RegressionMetrics();
    private final MulticlassMetrics multiclass;

    Evaluation(Scorer scorer, TargetMapping target) {
        this.scorer = scorer;
        this.target = target;
        this.outputs = scorer.outputs();
        this.multiclass = new MulticlassMetrics(Math.max(target.classCount(), 1));
    }

    /** Runs over all rows; returns metric name to value. */
    Map<String, Double> run(ShardRows rows, Path file) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            out.write("key,label,score" + probabilityNames() + "\n");
            score(scorer, rows, (key, label, scores, offset) -> out.write(line(key, label, scores, offset)));
        }
        if (target.task() == Task.REGRESSION) {
            return regression.values();
        }
        return outputs == 1 ? binary.values() : multiclass.values();
    }

    /** Takes one scored row; its scores begin at {@code offset}. */
    interface RowScores {
        void accept(String key, float label, float[] scores, int offset) throws IOException;
    }

    /** Scores all rows in batches. */
    static void score(Scorer scorer, ShardRows rows, RowScores action) throws IOException {
        int outputs = scorer.outputs();
        float[] features = new float[BATCH_ROWS * rows.width()];
        float[] scores = new float[BATCH_ROWS * outputs];
        float[] labels = new float[BATCH_ROWS];
        List<String> keys = new ArrayList<>(BATCH_ROWS);
        int count = rows.read(BATCH_ROWS, features, labels, keys);
        while (count > 0) {
            scorer.score(features, count, scores);
            for (int row = 0; row < count; row++) {
                action.accept(keys.get(row), labels[row], scores, row * outputs);
            }
            count = rows.read(BATCH_ROWS, features, labels, keys);
        }
    }

    /** Index of the class a row is taken for. */
    static int predictedClass(float[] scores, int offset, int outputs) {
        if (outputs == 1) {
            return BinaryMetrics.isPositive(scores[offset]) ? 1 : 0;
        }
        int best = 0;
        for (int index = 1; index < outputs; index++) {
            if (scores[offset + index] > scores[offset + best]) {
                best = index;
            }
        }
        return best;
    }

    private String probabilityNames() {
        return outputs == 1
                ? ""
                : IntStream.range(0, outputs).mapToObj(index -> ",p" + index).collect(Collectors.joining());
    }

    private String line(String key, float label, float[] scores, int offset) {
        float score = scores[offset];
        if (target.task() == Task.REGRESSION) {
            regression.add(label, score);
            return quoted(key) + "," + label + "," + score + "\n";
        }
        int actual = (int) label;
        if (outputs == 1) {
            binary.add(actual == 1, score);
            return quoted(key) + "," + quoted(target.label(actual)) + "," + score + "\n";
        }
        int predicted = predictedClass(scores, offset, outputs);
        multiclass.add(actual, predicted, scores[offset + actual]);
        StringBuilder line = new StringBuilder(quoted(key))
                .append(',')
                .append(quoted(target.label(actual)))
                .append(',')
                .append(predicted);
        for (int index = 0; index < outputs; index++) {
            line.append(',').append(scores[offset + index]);
        }
        return line.append('\n').toString();
    }

    /** A CSV field as RFC 4180 has it. */
    static String quoted(String field) {
        boolean plain = field.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return plain ? field : "\"" + field.replace("\"", "\"\"") + "\"";
    }
}
