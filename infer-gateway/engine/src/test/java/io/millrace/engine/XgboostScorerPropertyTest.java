package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import ml.dmlc.xgboost4j.java.Booster;
import ml.dmlc.xgboost4j.java.XGBoostError;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Over random forests of every objective that is served: the flat arrays, the native library and XGBoost's own interface agree. */
class XgboostScorerPropertyTest {
    private static final float TOLERANCE = 1e-6f;
    private static final int ROW_COUNT = 150;

    record Forest(
            String objective,
            int classCount,
            int width,
            int depth,
            int rounds,
            int parallel,
            double missing,
            long seed) {
        int scorerClasses() {
            if (objective.startsWith("multi:")) {
                return classCount;
            }
            return objective.startsWith("binary:") ? 2 : 0;
        }

        Map<String, Object> parameters() {
            Map<String, Object> parameters = new HashMap<>();
            parameters.put("objective", objective);
            parameters.put("max_depth", depth);
            parameters.put("seed", seed);
            parameters.put("num_parallel_tree", parallel);
            parameters.put("subsample", parallel > 1 ? 0.7 : 1.0);
            if (objective.startsWith("multi:")) {
                parameters.put("num_class", classCount);
            }
            if (seed % 5 == 0) {
                parameters.put("base_score", 0.3);
            }
            if (seed % 7 == 0) {
                parameters.put("rate_drop", 0.3);
            }
            if (seed % 3 == 0) {
                parameters.put("grow_policy", "lossguide");
                parameters.put("max_leaves", 20);
                parameters.put("tree_method", "hist");
            }
            if (seed % 11 == 0) {
                parameters.put("tree_method", "exact");
                parameters.put("grow_policy", "depthwise");
            }
            return parameters;
        }

        int labelClasses() {
            return switch (objective) {
                case "binary:logistic", "binary:logitraw", "binary:hinge", "reg:logistic", "rank:map" -> 2;
                case "multi:softprob", "multi:softmax" -> classCount;
                case "rank:ndcg", "rank:pairwise" -> 4;
                default -> 0;
            };
        }
    }

    @Provide
    Arbitrary<Forest> forests() {
        Arbitrary<String> objective = Arbitraries.of(
                "binary:logistic",
                "binary:logistic",
                "binary:logitraw",
                "binary:hinge",
                "multi:softprob",
                "multi:softprob",
                "multi:softmax",
                "reg:squarederror",
                "reg:squarederror",
                "reg:squaredlogerror",
                "reg:pseudohubererror",
                "reg:absoluteerror",
                "reg:quantileerror",
                "reg:logistic",
                "reg:gamma",
                "reg:tweedie",
                "count:poisson",
                "survival:cox",
                "survival:aft",
                "rank:ndcg",
                "rank:map",
                "rank:pairwise");
        return Combinators.combine(
                        objective,
                        Arbitraries.integers().between(2, 7),
                        Arbitraries.integers().between(1, 40),
                        Arbitraries.integers().between(1, 9),
                        Arbitraries.integers().between(1, 25),
                        Arbitraries.integers().between(1, 3),
                        Arbitraries.of(0.0, 0.1, 0.5),
                        Arbitraries.longs().between(1, 1_000_000))
                .as(Forest::new);
    }

    @Property(tries = 150, edgeCases = EdgeCasesMode.NONE)
    void bothWaysEqualXgboost(@ForAll("forests") Forest forest) throws XGBoostError, IOException {
        float[] rows = TestingForests.rows(forest.seed(), ROW_COUNT, forest.width(), forest.missing());
        float[] labels = TestingForests.labels(forest.seed(), rows, forest.width(), forest.labelClasses());
        Map<String, Object> parameters = forest.parameters();
        if (forest.objective().equals("reg:quantileerror")) {
            parameters.put("quantile_alpha", 0.7);
        }
        Booster booster = TestingForests.train(rows, labels, forest.width(), forest.rounds(), parameters);
        Path directory = Files.createTempDirectory("engine-property");
        Path file = TestingForests.write(booster, directory);
        float[] unseen = TestingForests.rows(forest.seed() + 9, ROW_COUNT, forest.width(), forest.missing());
        unseen[0] = Float.POSITIVE_INFINITY;
        unseen[unseen.length - 1] = Float.NEGATIVE_INFINITY;
        try (XgboostScorer scorer =
                        XgboostScorer.load(file, TestingForests.manifest(forest.width(), forest.scorerClasses()));
                NativeBooster natively = NativeBooster.load(file, TreeModelParser.parse(file))) {
            float[] flat = new float[ROW_COUNT * scorer.outputs()];
            float[] there = new float[ROW_COUNT * scorer.outputs()];
            scorer.scoreFlat(unseen, ROW_COUNT, flat);
            scorer.scoreBy(natively, unseen, ROW_COUNT, there);
            assertThat(flat).isEqualTo(there);
            assertLayoutsEqual(natively, TreeModelParser.parse(file), unseen);
            float[] actual = asXgboostAnswers(forest, flat);
            float[] expected = asked(forest, TestingForests.predict(booster, unseen, forest.width()));
            assertThat(actual).hasSize(expected.length);
            for (int index = 0; index < expected.length; index++) {
                assertThat(difference(actual[index], expected[index])).isLessThanOrEqualTo(TOLERANCE);
            }
        } finally {
            booster.dispose();
            Files.deleteIfExists(file);
            Files.deleteIfExists(directory);
        }
    }

    /** Which one a model takes is a matter of its size alone. */
    private static void assertLayoutsEqual(NativeBooster natively, TreeModel model, float[] rows) {
        float[] expected = new float[ROW_COUNT * model.outputCount()];
        natively.margins(rows, ROW_COUNT, expected);
        for (TreeLayout layout : List.of(LinkedTrees.of(model), PerfectTrees.of(model))) {
            float[] margins = new float[expected.length];
            new FlatTrees(model.baseMargins(natively::logarithm), layout).margins(rows, ROW_COUNT, margins);
            assertThat(margins).isEqualTo(expected);
        }
    }

    /** Where XGBoost answers the class, ours are the probabilities: the class is the likeliest. */
    private static float[] asXgboostAnswers(Forest forest, float[] answers) {
        if (!forest.objective().equals("multi:softmax")) {
            return answers;
        }
        float[] classes = new float[ROW_COUNT];
        int outputs = answers.length / ROW_COUNT;
        for (int row = 0; row < ROW_COUNT; row++) {
            int best = 0;
            for (int output = 1; output < outputs; output++) {
                best = answers[row * outputs + output] > answers[row * outputs + best] ? output : best;
            }
            classes[row] = outputs == 1 ? (answers[row] > 0.5f ? 1 : 0) : best;
        }
        return classes;
    }

    /** Where XGBoost answers a margin, or both of two probabilities, ours is the probability of the second class. */
    private static float[] asked(Forest forest, float[] answers) {
        if (forest.objective().equals("binary:logitraw")) {
            float[] probabilities = answers.clone();
            Link.SIGMOID.apply(probabilities, ROW_COUNT, 1);
            return probabilities;
        }
        if (forest.objective().equals("multi:softprob") && forest.classCount() == 2) {
            float[] second = new float[ROW_COUNT];
            for (int row = 0; row < ROW_COUNT; row++) {
                second[row] = answers[2 * row + 1];
            }
            return second;
        }
        return answers;
    }

    private static float difference(float actual, float expected) {
        if (Float.floatToIntBits(actual) == Float.floatToIntBits(expected)) {
            return 0;
        }
        return Math.abs(actual - expected) / Math.max(1, Math.abs(expected));
    }
}
