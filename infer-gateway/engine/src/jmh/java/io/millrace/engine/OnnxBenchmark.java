package io.millrace.engine;

import io.millrace.contract.Task;
import io.millrace.contract.fitted.RawRows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import ml.dmlc.xgboost4j.java.Booster;
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
 * Microseconds per batch, one thread, 100 features: a forest as flat arrays and the same forest as an ONNX graph, a network
 * of two hidden layers, and one number from four named columns.
 */
@SuppressWarnings("NullAway.Init") // JMH calls the set-up
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class OnnxBenchmark {
    private static final int WIDTH = 100;
    private static final int TREES = 100;

    @Param({"1", "8", "64", "512"})
    public int batch;

    private Path directory;
    private Scorer flat;
    private Scorer trees;
    private Scorer network;
    private Scorer columns;
    private RawRows raw;
    private float[] rows;
    private float[] out;

    @Setup
    public void load() throws XGBoostError, IOException {
        directory = Files.createTempDirectory("onnx-benchmark");
        float[] training = TestingForests.rows(1, 8192, WIDTH, 0.05);
        Booster booster = TestingForests.train(
                training,
                TestingForests.labels(1, training, WIDTH, 0),
                WIDTH,
                TREES,
                Map.of("objective", "reg:squarederror", "max_depth", 6, "gamma", 0));
        Path file = TestingForests.write(booster, directory);
        booster.dispose();
        flat = XgboostScorer.load(file, TestingForests.manifest(WIDTH, 0));
        trees = imported("trees", TestingTrees.graph(TreeModelParser.parse(file)));
        network = imported(
                "network",
                new TestingGraphs()
                        .input("x", TestingGraphs.FLOAT, TestingGraphs.ANY, WIDTH)
                        .gemm("x", WIDTH, 128, "a")
                        .node("Relu", "", List.of("a"), List.of("b"))
                        .gemm("b", 128, 64, "c")
                        .node("Relu", "", List.of("c"), List.of("d"))
                        .gemm("d", 64, 1, "y")
                        .output("y", TestingGraphs.FLOAT, TestingGraphs.ANY, 1));
        TestingGraphs named = new TestingGraphs();
        for (String name : List.of("a", "b", "c", "d")) {
            named.input(name, TestingGraphs.FLOAT, TestingGraphs.ANY, 1);
        }
        columns = imported(
                "columns",
                named.node("Concat", "", List.of("a", "b", "c", "d"), List.of("x"), TestingGraphs.integer("axis", 1))
                        .gemm("x", 4, 1, "y")
                        .output("y", TestingGraphs.FLOAT, TestingGraphs.ANY, 1));
        raw = new RawRows(columns.rawColumns());
        raw.ensure(batch);
        rows = TestingForests.rows(2, batch, WIDTH, 0.05);
        out = new float[batch];
    }

    private Scorer imported(String name, TestingGraphs graph) throws IOException {
        Path target = directory.resolve(name);
        TestingImports.write(target, graph, TestingImports.request(Task.REGRESSION));
        return TestingImports.load(target);
    }

    @TearDown
    public void close() throws IOException {
        for (Scorer scorer : List.of(flat, trees, network, columns)) {
            scorer.close();
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted((one, other) -> other.compareTo(one)).toList()) {
                Files.delete(file);
            }
        }
    }

    @Benchmark
    public float[] flatTrees() {
        flat.score(rows, batch, out);
        return out;
    }

    @Benchmark
    public float[] onnxTrees() {
        trees.score(rows, batch, out);
        return out;
    }

    @Benchmark
    public float[] onnxNetwork() {
        network.score(rows, batch, out);
        return out;
    }

    @Benchmark
    public float[] onnxColumns() {
        columns.score(raw, 0, batch, out);
        return out;
    }
}
