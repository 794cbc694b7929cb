package io.millrace.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import ml.dmlc.xgboost4j.java.Booster;
import ml.dmlc.xgboost4j.java.DMatrix;
import ml.dmlc.xgboost4j.java.XGBoostError;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Microseconds per batch, one thread, 100 features with 5 % missing: the flat arrays, the margins alone in either layout,
 * the native library in place, and XGBoost4J's own {@code predict} over a DMatrix as the baseline. Batches cycle through
 * 8,192 rows, so no branch is learnt by heart.
 */
@SuppressWarnings("NullAway.Init") // JMH calls the set-up
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class ScoringBenchmark {
    private static final int WIDTH = 100;
    private static final int ROW_COUNT = 8192;

    @Param({"1", "8", "32", "128", "512"})
    public int batch;

    @Param("100")
    public int trees;

    @Param("6")
    public int depth;

    /** Leaves of a tree that grows where it gains most, whatever the depth; 0 for trees that grow by level. */
    @Param("0")
    public int leaves;

    private Path directory;
    private Booster booster;
    private XgboostScorer scorer;
    private FlatTrees linked;
    private FlatTrees perfect;
    private NativeBooster natively;
    private float[][] batches;
    private float[] out;
    private int next;

    @Setup
    public void train() throws XGBoostError, IOException {
        float[] rows = TestingForests.rows(1, ROW_COUNT, WIDTH, 0.05);
        float[] labels = TestingForests.labels(1, rows, WIDTH, 2);
        booster = TestingForests.train(rows, labels, WIDTH, trees, parameters());
        booster.setParam("nthread", 1);
        directory = Files.createTempDirectory("scoring-benchmark");
        Path file = TestingForests.write(booster, directory);
        scorer = XgboostScorer.load(file, TestingForests.manifest(WIDTH, 2));
        TreeModel model = TreeModelParser.parse(file);
        natively = NativeBooster.load(file, model);
        linked = new FlatTrees(model.baseScores(), LinkedTrees.of(model));
        // Where the trees are too deep for the perfect layout, the comparison is with itself.
        perfect = PerfectTrees.treeBytes(model) < Long.MAX_VALUE
                ? new FlatTrees(model.baseScores(), PerfectTrees.of(model))
                : linked;
        batches = new float[ROW_COUNT / batch][];
        for (int index = 0; index < batches.length; index++) {
            batches[index] =
                    Arrays.copyOfRange(rows, index * batch * WIDTH, (index + 1) * batch * WIDTH);
        }
        out = new float[batch];
    }

    private Map<String, Object> parameters() {
        if (leaves == 0) {
            return Map.of("objective", "binary:logistic", "max_depth", depth, "gamma", 0);
        }
        return Map.of(
                "objective", "binary:logistic", "tree_method", "hist", "grow_policy", "lossguide", "max_depth", 0,
                "max_leaves", leaves);
    }

    @TearDown
    public void close() throws IOException {
        scorer.close();
        natively.close();
        booster.dispose();
        Files.delete(directory.resolve(Engines.XGBOOST_FILE));
        Files.delete(directory);
    }

    private float[] nextBatch() {
        next = next + 1 < batches.length ? next + 1 : 0;
        return batches[next];
    }

    @Benchmark
    public float[] flat() {
        scorer.scoreFlat(nextBatch(), batch, out);
        return out;
    }

    @Benchmark
    public float[] linked() {
        linked.margins(nextBatch(), batch, out);
        return out;
    }

    @Benchmark
    public float[] perfect() {
        perfect.margins(nextBatch(), batch, out);
        return out;
    }

    @Benchmark
    public float[] natively() {
        scorer.scoreBy(natively, nextBatch(), batch, out);
        return out;
    }

    @Benchmark
    public float[][] matrix() throws XGBoostError {
        DMatrix matrix = new DMatrix(nextBatch(), batch, WIDTH, Float.NaN);
        try {
            return booster.predict(matrix);
        } finally {
            matrix.dispose();
        }
    }
}
