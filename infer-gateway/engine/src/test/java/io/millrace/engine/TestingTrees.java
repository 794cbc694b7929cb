package io.millrace.engine;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Forests as ONNX graphs. */
final class TestingTrees {
    private TestingTrees() {}

    /** A regression of one output as a {@code TreeEnsembleRegressor}. */
    static TestingGraphs graph(TreeModel model) {
        List<Long> trees = new ArrayList<>();
        List<Long> nodes = new ArrayList<>();
        List<Long> features = new ArrayList<>();
        List<Float> values = new ArrayList<>();
        List<String> modes = new ArrayList<>();
        List<Long> left = new ArrayList<>();
        List<Long> right = new ArrayList<>();
        List<Long> missingLeft = new ArrayList<>();
        List<Long> leafTrees = new ArrayList<>();
        List<Long> leafNodes = new ArrayList<>();
        List<Float> weights = new ArrayList<>();
        for (int index = 0; index < model.trees().size(); index++) {
            TreeModel.Tree tree = model.trees().get(index);
            for (int node = 0; node < tree.nodeCount(); node++) {
                boolean leaf = tree.isLeaf(node);
                trees.add((long) index);
                nodes.add((long) node);
                features.add(leaf ? 0L : tree.feature()[node]);
                values.add(leaf ? 0f : tree.value()[node]);
                modes.add(leaf ? "LEAF" : "BRANCH_LT");
                left.add(leaf ? 0L : tree.left()[node]);
                right.add(leaf ? 0L : tree.right()[node]);
                missingLeft.add(leaf ? 0L : tree.defaultLeft()[node]);
                if (leaf) {
                    leafTrees.add((long) index);
                    leafNodes.add((long) node);
                    weights.add(tree.value()[node]);
                }
            }
        }
        return new TestingGraphs()
                .input("x", TestingGraphs.FLOAT, TestingGraphs.ANY, model.featureCount())
                .learnt(
                        "TreeEnsembleRegressor",
                        List.of("x"),
                        List.of("y"),
                        TestingGraphs.integers("nodes_treeids", trees),
                        TestingGraphs.integers("nodes_nodeids", nodes),
                        TestingGraphs.integers("nodes_featureids", features),
                        TestingGraphs.floats("nodes_values", values),
                        TestingGraphs.texts("nodes_modes", modes),
                        TestingGraphs.integers("nodes_truenodeids", left),
                        TestingGraphs.integers("nodes_falsenodeids", right),
                        TestingGraphs.integers("nodes_missing_value_tracks_true", missingLeft),
                        TestingGraphs.integers("target_treeids", leafTrees),
                        TestingGraphs.integers("target_nodeids", leafNodes),
                        TestingGraphs.integers("target_ids", Collections.nCopies(weights.size(), 0L)),
                        TestingGraphs.floats("target_weights", weights),
                        TestingGraphs.integer("n_targets", 1),
                        TestingGraphs.floats(
                                "base_values", List.of(model.baseMargins(value -> (float) Math.log(value))[0])))
                .output("y", TestingGraphs.FLOAT, TestingGraphs.ANY, 1);
    }
}
