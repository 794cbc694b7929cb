package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import ml.dmlc.xgboost4j.java.Booster;
import ml.dmlc.xgboost4j.java.XGBoost;
import ml.dmlc.xgboost4j.java.XGBoostError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Trees written by hand, for what training does not reach: values on thresholds, and chains. */
class HandmadeTreesTest {
    @TempDir
    Path directory;

    /** Writes one tree whose every split has a leaf on its left, all on feature 0. */
    private Path chain(float[] thresholds, boolean defaultLeft) throws XGBoostError, IOException {
        int count = 2 * thresholds.length + 1;
        List<Integer> left = new ArrayList<>(Collections.nCopies(count, -1));
        List<Integer> right = new ArrayList<>(Collections.nCopies(count, -1));
        List<Integer> parents = new ArrayList<>(Collections.nCopies(count, Integer.MAX_VALUE));
        List<Float> values = new ArrayList<>(Collections.nCopies(count, 0f));
        for (int split = 0; split < thresholds.length; split++) {
            int node = 2 * split;
            left.set(node, node + 1);
            right.set(node, node + 2);
            parents.set(node + 1, node);
            parents.set(node + 2, node);
            values.set(node, thresholds[split]);
            values.set(node + 1, split + 1f);
        }
        values.set(count - 1, thresholds.length + 1f);
        List<Integer> zeros = Collections.nCopies(count, 0);
        List<Float> noStatistics = Collections.nCopies(count, 0f);
        String tree = "{\"base_weights\":" + noStatistics + ",\"categories\":[],\"categories_nodes\":[],"
                + "\"categories_segments\":[],\"categories_sizes\":[],\"default_left\":"
                + Collections.nCopies(count, defaultLeft ? 1 : 0) + ",\"id\":0,\"left_children\":" + left
                + ",\"loss_changes\":" + noStatistics + ",\"parents\":" + parents + ",\"right_children\":" + right
                + ",\"split_conditions\":" + values + ",\"split_indices\":" + zeros + ",\"split_type\":" + zeros
                + ",\"sum_hessian\":" + noStatistics + ",\"tree_param\":{\"num_deleted\":\"0\",\"num_feature\":\"1\","
                + "\"num_nodes\":\"" + count + "\",\"size_leaf_vector\":\"1\"}}";
        String model = "{\"learner\":{\"attributes\":{},\"feature_names\":[],\"feature_types\":[],\"gradient_booster\":"
                + "{\"model\":{\"cats\":{\"enc\":[],\"feature_segments\":[],\"sorted_idx\":[]},\"gbtree_model_param\":"
                + "{\"num_parallel_tree\":\"1\",\"num_trees\":\"1\"},\"iteration_indptr\":[0,1],\"tree_info\":[0],"
                + "\"trees\":[" + tree + "]},\"name\":\"gbtree\"},\"learner_model_param\":{\"base_score\":\"[0E0]\","
                + "\"boost_from_average\":\"1\",\"num_class\":\"0\",\"num_feature\":\"1\",\"num_target\":\"1\"},"
                + "\"objective\":{\"name\":\"reg:squarederror\",\"reg_loss_param\":{\"scale_pos_weight\":\"1\"}}},"
                + "\"version\":[3,4,0]}";
        Booster booster = XGBoost.loadModel(new ByteArrayInputStream(model.getBytes(StandardCharsets.UTF_8)));
        try {
            return TestingForests.write(booster, directory);
        } finally {
            booster.dispose();
        }
    }

    @Test
    void valuesOnThresholdsGoAsInXgboost() throws Exception {
        float[] thresholds = {
            -Float.MAX_VALUE, -1.5f, -Float.MIN_VALUE, -0.0f, Float.MIN_VALUE, 0.1f, 1.0f, 16_777_216f, Float.MAX_VALUE
        };
        List<Float> values = new ArrayList<>(
                List.of(Float.NaN, 0.0f, -0.0f, Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY, 16_777_218f));
        for (float threshold : thresholds) {
            values.add(threshold);
            values.add(Math.nextUp(threshold));
            values.add(Math.nextDown(threshold));
        }
        float[] rows = new float[values.size()];
        for (int row = 0; row < rows.length; row++) {
            rows[row] = values.get(row);
        }
        for (boolean defaultLeft : new boolean[] {false, true}) {
            Path file = chain(thresholds, defaultLeft);
            TreeModel model = TreeModelParser.parse(file);
            try (XgboostScorer scorer = XgboostScorer.load(file, TestingForests.manifest(1, 0));
                    NativeBooster natively = NativeBooster.load(file, model)) {
                float[] here = new float[rows.length];
                float[] there = new float[rows.length];
                scorer.scoreFlat(rows, rows.length, here);
                scorer.scoreBy(natively, rows, rows.length, there);
                assertThat(here).isEqualTo(there);
                assertThat(here[0]).isEqualTo(defaultLeft ? 1 : thresholds.length + 1);
                assertThat(here[1]).isEqualTo(here[2]).isEqualTo(5);
                float[] perfect = new float[rows.length];
                PerfectTrees.of(model).addLeaves(rows, rows.length, perfect);
                assertThat(perfect).isEqualTo(there);
            }
        }
    }

    @Test
    void aModelOfChainsKeepsItsNativeBooster() throws Exception {
        float[] thresholds = new float[80];
        for (int split = 0; split < thresholds.length; split++) {
            thresholds[split] = split;
        }
        Path file = chain(thresholds, true);
        try (Scorer scorer = Engines.load(directory, TestingForests.manifest(1, 0))) {
            assertThat(XgboostScorer.nativeRowsMin(TreeModelParser.parse(file)))
                    .isEqualTo(XgboostScorer.CHAIN_NATIVE_ROWS_MIN);
            assertThat(scorer.residentBytes()).isGreaterThan(Files.size(file));
            float[] rows = new float[100];
            float[] out = new float[100];
            for (int row = 0; row < rows.length; row++) {
                rows[row] = row - 0.5f;
            }
            scorer.score(rows, 10, out);
            assertThat(out).startsWith(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
            scorer.score(rows, 100, out);
            assertThat(out).startsWith(1, 2, 3).endsWith(81, 81);
        }
        Path ordinary = chain(new float[] {1, 2}, true);
        assertThat(XgboostScorer.nativeRowsMin(TreeModelParser.parse(ordinary))).isEqualTo(Integer.MAX_VALUE);
    }
}
