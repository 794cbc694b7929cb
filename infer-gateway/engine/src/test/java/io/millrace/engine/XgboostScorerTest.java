package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import ml.dmlc.xgboost4j.java.Booster;
import ml.dmlc.xgboost4j.java.DMatrix;
import ml.dmlc.xgboost4j.java.XGBoost;
import ml.dmlc.xgboost4j.java.XGBoostError;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class XgboostScorerTest {
    private static final int WIDTH = 7;

    @TempDir
    Path directory;

    private Path train(int rounds, int classCount, Map<String, Object> parameters) throws XGBoostError, IOException {
        float[] rows = TestingForests.rows(3, 300, WIDTH, 0.1);
        float[] labels = TestingForests.labels(3, rows, WIDTH, classCount);
        Booster booster = TestingForests.train(rows, labels, WIDTH, rounds, parameters);
        try {
            return TestingForests.write(booster, directory);
        } finally {
            booster.dispose();
        }
    }

    /** A scorer that keeps its native booster and uses it from a given batch on. */
    private static XgboostScorer nativeFrom(Path file, int rows) {
        return XgboostScorer.load(file, TreeModelParser.parse(file), TestingForests.manifest(WIDTH, 2), rows);
    }

    private Path binary() throws XGBoostError, IOException {
        return train(20, 2, Map.of("objective", "binary:logistic", "max_depth", 5));
    }

    @Test
    void describesABinaryModel() throws Exception {
        Path file = binary();
        try (Scorer scorer = Engines.load(directory, TestingForests.manifest(WIDTH, 2))) {
            assertThat(scorer.width()).isEqualTo(WIDTH);
            assertThat(scorer.outputs()).isEqualTo(1);
            assertThat(scorer.residentBytes()).isBetween(1L, Files.size(file));
            try (Scorer both = nativeFrom(file, 64)) {
                assertThat(both.residentBytes()).isGreaterThan(Files.size(file));
            }
        }
    }

    @Test
    void aShallowForestTakesPerfectTreesAndADeepOneLinks() throws Exception {
        TreeModel shallow = TreeModelParser.parse(binary());
        assertThat(FlatTrees.of(shallow, shallow.baseScores()).layout()).isInstanceOf(PerfectTrees.class);
        TreeModel deep = TreeModelParser.parse(
                train(20, 2, Map.of("objective", "binary:logistic", "max_depth", 14, "min_child_weight", 0)));
        assertThat(FlatTrees.of(deep, deep.baseScores()).layout()).isInstanceOf(LinkedTrees.class);
    }

    @Test
    void aRowsAnswerDoesNotDependOnItsBatch() throws Exception {
        Path file = binary();
        int rowCount = 69;
        float[] rows = TestingForests.rows(8, rowCount, WIDTH, 0.2);
        float[] together = new float[rowCount];
        try (Scorer scorer = nativeFrom(file, 64)) {
            scorer.score(rows, rowCount, together);
            for (int size = 1; size <= rowCount; size++) {
                float[] some = new float[size];
                scorer.score(rows, size, some);
                assertThat(some).startsWith(Arrays.copyOf(together, size));
            }
        }
    }

    @Test
    void leavesTheRestOfTheArraysAlone() throws Exception {
        train(5, 3, Map.of("objective", "multi:softprob", "num_class", 3));
        try (Scorer scorer = Engines.load(directory, TestingForests.manifest(WIDTH, 3))) {
            float[] out = new float[12];
            Arrays.fill(out, 7);
            scorer.score(TestingForests.rows(4, 9, WIDTH, 0), 2, out);
            assertThat(out[0] + out[1] + out[2]).isCloseTo(1, within(1e-6f));
            assertThat(Arrays.copyOfRange(out, 6, 12)).containsOnly(7);
            scorer.score(new float[0], 0, new float[0]);
        }
    }

    @Test
    void twoSoftmaxClassesGiveTheSecondsProbability() throws Exception {
        train(5, 2, Map.of("objective", "multi:softprob", "num_class", 2));
        Booster booster =
                XGBoost.loadModel(directory.resolve(Engines.XGBOOST_FILE).toString());
        float[] rows = TestingForests.rows(4, 9, WIDTH, 0);
        float[] expected = TestingForests.predict(booster, rows, WIDTH);
        booster.dispose();
        try (Scorer scorer = Engines.load(directory, TestingForests.manifest(WIDTH, 2))) {
            float[] out = new float[9];
            scorer.score(rows, 9, out);
            for (int row = 0; row < 9; row++) {
                assertThat(out[row]).isCloseTo(expected[2 * row + 1], within(1e-6f));
            }
        }
    }

    @Test
    void aModelWithoutSplitsGivesOneAnswer() throws Exception {
        float[] out = new float[40];
        train(3, 0, Map.of("objective", "reg:squarederror", "base_score", 5, "gamma", 1e9));
        try (Scorer scorer = Engines.load(directory, TestingForests.manifest(WIDTH, 0))) {
            scorer.score(TestingForests.rows(4, 40, WIDTH, 0), 40, out);
            assertThat(out).containsOnly(out[0]).doesNotContain(5);
        }
    }

    @Test
    void manyThreadsGetTheirOwnAnswers() throws Exception {
        Path file = binary();
        int rowCount = 400;
        float[] rows = TestingForests.rows(8, rowCount, WIDTH, 0.2);
        float[] expected = new float[rowCount];
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try (XgboostScorer scorer = nativeFrom(file, 64)) {
            scorer.scoreFlat(rows, rowCount, expected);
            List<Future<?>> calls = new ArrayList<>();
            for (int thread = 0; thread < 8; thread++) {
                int first = thread;
                calls.add(threads.submit(() -> {
                    float[] out = new float[rowCount];
                    for (int round = 0; round < 200; round++) {
                        int size = 1 + (first * 37 + round * 11) % rowCount;
                        scorer.score(rows, size, out);
                        assertThat(Arrays.copyOf(out, size)).isEqualTo(Arrays.copyOf(expected, size));
                    }
                }));
            }
            for (Future<?> call : calls) {
                call.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void closingUnderCallsEndsThemCleanly() throws Exception {
        Path file = binary();
        float[] rows = TestingForests.rows(8, 400, WIDTH, 0.2);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            Scorer scorer = nativeFrom(file, 64);
            List<Future<Integer>> calls = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                int size = thread == 0 ? 3 : 400;
                calls.add(threads.submit(() -> {
                    float[] out = new float[400];
                    int answered = 0;
                    while (true) {
                        try {
                            scorer.score(rows, size, out);
                            answered++;
                        } catch (IllegalStateException closed) {
                            return answered;
                        }
                    }
                }));
            }
            float[] out = new float[400];
            for (int call = 0; call < 50; call++) {
                scorer.score(rows, 400, out);
            }
            scorer.close();
            scorer.close();
            for (Future<Integer> call : calls) {
                assertThat(call.get()).isNotNegative();
            }
            assertThatThrownBy(() -> scorer.score(rows, 1, out))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("scorer is closed");
            assertThatThrownBy(() -> scorer.score(rows, 400, out))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("scorer is closed");
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void rejectsArraysThatAreTooShort() throws Exception {
        binary();
        try (Scorer scorer = Engines.load(directory, TestingForests.manifest(WIDTH, 2))) {
            assertRefused(
                    () -> scorer.score(new float[13], 2, new float[2]),
                    ErrorCode.WRONG_LENGTH,
                    "batch must fit its arrays: rows=2, width=7, features=13, outputs=1, out=2");
            assertRefused(
                    () -> scorer.score(new float[14], 2, new float[1]),
                    ErrorCode.WRONG_LENGTH,
                    "batch must fit its arrays: rows=2, width=7, features=14, outputs=1, out=1");
            assertRefused(
                    () -> scorer.score(new float[14], -1, new float[1]),
                    ErrorCode.WRONG_LENGTH,
                    "batch must fit its arrays: rows=-1, width=7, features=14, outputs=1, out=1");
        }
    }

    @Test
    void rejectsAModelThatIsNotTheManifests() throws Exception {
        binary();
        assertRefused(
                () -> Engines.load(directory, TestingForests.manifest(8, 2)),
                ErrorCode.CORRUPT_PACKAGE,
                "model must have the manifest's width: features=7, width=8");
        assertRefused(
                () -> Engines.load(directory, TestingForests.manifest(WIDTH, 3)),
                ErrorCode.CORRUPT_PACKAGE,
                "model must answer the manifest's task: task=CLASSIFICATION, labels=3, objective=binary:logistic, outputs=1");
        train(2, 3, Map.of("objective", "multi:softprob", "num_class", 3));
        assertRefused(
                () -> Engines.load(directory, TestingForests.manifest(WIDTH, 0)),
                ErrorCode.CORRUPT_PACKAGE,
                "model must answer the manifest's task: task=REGRESSION, labels=0, objective=multi:softprob, outputs=3");
        train(2, 0, Map.of("objective", "reg:squarederror"));
        assertRefused(
                () -> Engines.load(directory, TestingForests.manifest(WIDTH, 2)),
                ErrorCode.CORRUPT_PACKAGE,
                "model must answer the manifest's task: task=CLASSIFICATION, labels=2, objective=reg:squarederror, outputs=1");
        Files.delete(directory.resolve(Engines.XGBOOST_FILE));
        assertRefused(
                () -> Engines.load(directory, TestingForests.manifest(WIDTH, 2)),
                ErrorCode.CORRUPT_PACKAGE,
                "model file is missing from its package: file=model.ubj, package=" + directory);
    }

    @Test
    void refusesWhatItDoesNotServe() throws Exception {
        train(2, 2, Map.of("objective", "binary:logistic", "booster", "gblinear"));
        assertRefused(
                () -> Engines.load(directory, TestingForests.manifest(WIDTH, 2)),
                ErrorCode.UNSUPPORTED_KIND,
                "booster must be gbtree: booster=gblinear");
        train(
                2,
                3,
                Map.of(
                        "objective",
                        "multi:softprob",
                        "num_class",
                        3,
                        "multi_strategy",
                        "multi_output_tree",
                        "tree_method",
                        "hist"));
        assertRefused(
                () -> Engines.load(directory, TestingForests.manifest(WIDTH, 3)),
                ErrorCode.UNSUPPORTED_KIND,
                "leaves must hold one value: tree=0");
        categorical();
        assertRefused(
                () -> Engines.load(directory, TestingForests.manifest(2, 0)),
                ErrorCode.UNSUPPORTED_KIND,
                "splits must be numeric: tree=0");
    }

    @Test
    void refusesAnObjectiveOrAnOutputThatIsNotServed() throws Exception {
        assertRefused(
                () -> Link.ofObjective("reg:conjured"),
                ErrorCode.UNSUPPORTED_KIND,
                "objective must be one that is served: objective=reg:conjured, served=binary:logistic, binary:logitraw,"
                        + " binary:hinge, multi:softprob, multi:softmax, reg:squarederror, reg:squaredlogerror,"
                        + " reg:pseudohubererror, reg:absoluteerror, reg:quantileerror, reg:logistic, reg:gamma,"
                        + " reg:tweedie, count:poisson, survival:cox, survival:aft, rank:pairwise, rank:ndcg, rank:map");
        train(2, 0, Map.of("objective", "reg:quantileerror", "quantile_alpha", "[0.1, 0.5, 0.9]"));
        assertRefused(
                () -> Engines.load(directory, TestingForests.manifest(WIDTH, 0)),
                ErrorCode.UNSUPPORTED_KIND,
                "regression must have one output, for one target or quantile: objective=reg:quantileerror, outputs=3");
    }

    private void categorical() throws XGBoostError, IOException {
        float[] rows = new float[400];
        float[] labels = new float[200];
        for (int row = 0; row < 200; row++) {
            rows[2 * row] = row % 5;
            rows[2 * row + 1] = row;
            labels[row] = row % 5 == 2 ? 10 : row % 5 == 4 ? 9 : 0;
        }
        DMatrix matrix = new DMatrix(rows, 200, 2, Float.NaN);
        matrix.setLabel(labels);
        matrix.setFeatureTypes(new String[] {"c", "q"});
        Map<String, Object> parameters = new HashMap<>(Map.of("objective", "reg:squarederror", "tree_method", "hist"));
        Booster booster = XGBoost.train(matrix, parameters, 2, Map.of(), null, null);
        TestingForests.write(booster, directory);
        booster.dispose();
        matrix.dispose();
    }

    private static void assertRefused(ThrowingCallable call, ErrorCode code, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        ContractException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessage(message);
    }
}
