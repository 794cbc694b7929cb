package io.millrace.train.job;

import io.millrace.contract.ColumnType;
import io.millrace.contract.fitted.Encoder;
import io.millrace.contract.fitted.FittedColumn;
import io.millrace.contract.fitted.FittedCounts;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.fitted.Imputer;
import io.millrace.contract.fitted.Scaler;
import io.millrace.contract.fitted.TargetMapping;
import io.millrace.contract.matrix.MatrixWriter;
import io.millrace.train.TrainConfig;
import io.millrace.train.child.InMemoryBaselineMain;
import io.millrace.train.child.TrainChildMain;
import io.millrace.train.spec.SpecJson;
import io.millrace.train.spec.TrainResult;
import io.millrace.train.spec.TrainSpec;
import io.millrace.train.testing.TestingConf;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Benchmark of training: memory and time of the child JVM on generated rows, against the same training with the matrix in
 * memory. Run in the module's directory with {@code target/test-classes:target/classes:target/lib/*} as class path.
 *
 * <p>Arguments: {@code DIRECTORY ROWS COLUMNS ROUNDS}; prints {@code name value unit} lines.
 */
public final class TrainBenchMain {
    private static final int TEST_ROWS = 50_000;

    private final Path directory;
    private final int rows;
    private final int columns;
    private final long rounds;

    private TrainBenchMain(Path directory, int rows, int columns, long rounds) {
        this.directory = directory;
        this.rows = rows;
        this.columns = columns;
        this.rounds = rounds;
    }

    public static void main(String[] args) throws Exception {
        Path directory = Files.createDirectories(Path.of(args[0]).toAbsolutePath());
        TrainBenchMain bench = new TrainBenchMain(
                directory, Integer.parseInt(args[1]), Integer.parseInt(args[2]), Long.parseLong(args[3]));
        print("processors", Runtime.getRuntime().availableProcessors(), "1");
        print("rows", bench.rows, "1");
        print("columns", bench.columns, "1");
        print("rounds", (double) bench.rounds, "1");
        bench.generate("train", bench.rows, 1);
        bench.generate("test", TEST_ROWS, 2);
        TrainResult external = bench.run("external-memory", List.of());
        TrainResult quantile = bench.run("in-memory-quantile", List.of("quantile"));
        TrainResult dense = bench.run("in-memory-dense", List.of("dense"));
        print("memory-ratio-to-quantile", fact(external, PEAK) / fact(quantile, PEAK), "1");
        print("memory-ratio-to-dense", fact(external, PEAK) / fact(dense, PEAK), "1");
        print("time-ratio-to-quantile", fact(external, SECONDS) / fact(quantile, SECONDS), "1");
        print("time-ratio-to-dense", fact(external, SECONDS) / fact(dense, SECONDS), "1");
    }

    private static final String PEAK = "peak-anonymous-bytes";
    private static final String SECONDS = "train-seconds";

    private static double fact(TrainResult result, String name) {
        return result.facts().getOrDefault(name, Double.NaN);
    }

    private static void print(String name, double value, String unit) {
        String number =
                value == Math.rint(value) ? Long.toString((long) value) : String.format(Locale.ROOT, "%.4f", value);
        System.out.println(name + " " + number + " " + unit);
    }

    /** Ten columns decide the label together with noise; the others are noise. */
    private void generate(String part, int count, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        float[] row = new float[columns];
        try (MatrixWriter writer = MatrixWriter.create(
                directory.resolve(part + "-0"), columns, fitted().inputs().fingerprint())) {
            for (int index = 0; index < count; index++) {
                double score = 0;
                for (int column = 0; column < columns; column++) {
                    row[column] = (float) random.nextDouble();
                    if (column < 10) {
                        score += column % 2 == 0 ? row[column] : row[column] * row[column - 1];
                    }
                }
                writer.append(row, score + random.nextDouble() > 4.2 ? 1 : 0, Integer.toString(index));
            }
            writer.finish();
        }
    }

    private FittedPreprocessing fitted() {
        List<FittedColumn> inputs = IntStream.range(0, columns)
                .mapToObj(index -> new FittedColumn(
                        "c" + index, ColumnType.FLOAT64, Imputer.none(), Encoder.none(), Scaler.none()))
                .toList();
        return new FittedPreprocessing(
                inputs,
                TargetMapping.classification("y", ColumnType.BOOLEAN, List.of("false", "true")),
                new FittedCounts(rows, 0));
    }

    /** Trains once in a child; {@code baseline} names the way to hold the matrix, or is empty for the real child. */
    private TrainResult run(String name, List<String> baseline) throws IOException, InterruptedException {
        TestingConf conf = TestingConf.write(directory.resolve("conf"), directory);
        TrainConfig config = conf.trainConfig();
        Path work = Files.createDirectories(directory.resolve("work-" + name));
        Path fittedFile = directory.resolve("fitted.json");
        Files.write(fittedFile, fitted().toJson());
        TrainSpec spec = new TrainSpec(
                "bench",
                1,
                "bench",
                1,
                1,
                "xgboost",
                "binary:logistic",
                Map.of("n_estimators", rounds),
                42,
                fitted().fittedId(),
                fittedFile.toString(),
                List.of(directory.resolve("train-0").toString()),
                List.of(),
                List.of(directory.resolve("test-0").toString()),
                work.toString(),
                "bench/1/" + System.nanoTime() + "-1",
                conf.directory().toString(),
                config.childThreads(),
                null,
                List.of(),
                directory.resolve("packages").toString(),
                List.of());
        Path specFile = work.resolve("spec.json");
        SpecJson.write(specFile, spec);
        List<String> command = new ArrayList<>(ChildProcess.command(
                config, TrainChildMain.TRAIN, specFile, work, ChildProcess.heapBytes(TEST_ROWS, null)));
        if (!baseline.isEmpty()) {
            int main = command.indexOf(TrainChildMain.class.getName());
            String classPath = command.get(main - 1);
            command.set(main - 1, Path.of("target", "test-classes").toAbsolutePath() + ":" + classPath);
            command.set(main, InMemoryBaselineMain.class.getName());
            command.addAll(main + 1, baseline);
        }
        try (ChildProcess child = ChildProcess.start(config, command, work)) {
            while (child.next() != null) {
                // Only the end counts here.
            }
            if (child.exitCode() != 0) {
                throw new IOException("benchmark's child failed: name=" + name + "\n" + child.errorTail());
            }
        }
        TrainResult result = SpecJson.read(work.resolve(TrainSpec.RESULT_FILE), TrainResult.class);
        print(name + "-peak-anonymous", fact(result, PEAK), "bytes");
        print(name + "-seconds", fact(result, SECONDS), "s");
        print(name + "-auc", result.metrics().getOrDefault("auc", Double.NaN), "1");
        return result;
    }
}
