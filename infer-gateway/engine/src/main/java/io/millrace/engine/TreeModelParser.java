package io.millrace.engine;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/*
 * XGBoost trusts its own files: an index out of range reads wild memory, and a tree that is not there is a null pointer. So
 * every package is parsed and checked here before the native library sees a byte of it, also what the flat arrays do not
 * need: parents, the numbers of the trees, where each iteration's trees begin. It checks the lengths of arrays itself.
 */

/**
 * Reads XGBoost's UBJSON model file.
 *
 * <p>Served: {@code gbtree} with numeric splits and one value per leaf, also with the tree weights of DART. Refused with
 * {@link ErrorCode#UNSUPPORTED_KIND}: {@code gblinear}, the {@code dart} container of old versions, categorical splits,
 * vector leaves. Everything else that is not a model is {@link ErrorCode#CORRUPT_PACKAGE}.
 */
final class TreeModelParser {
    /** Nothing here needs the statistics of training, half of the file. */
    private static final Set<String> SKIPPED =
            Set.of("base_weights", "loss_changes", "sum_hessian", "categories_segments", "categories_sizes");

    private static final int OUTPUT_COUNT_MAX = 4096;

    /** Child of a node that has none. Another negative number would be an index to the native library. */
    private static final int LEAF = -1;

    private TreeModelParser() {}

    /**
     * Parses a model file.
     *
     * @throws ContractException as this class says
     */
    static TreeModel parse(Path file) {
        return parse(ModelFile.map(file));
    }

    /** Parses the bytes of a model, big-endian, position to limit. */
    static TreeModel parse(ByteBuffer bytes) {
        Map<?, ?> learner = object(UbjReader.readObject(bytes, SKIPPED::contains), "learner");
        Map<?, ?> booster = object(learner, "gradient_booster");
        String kind = text(booster, "name");
        if (!kind.equals("gbtree")) {
            throw unsupported("booster must be gbtree", "booster=" + kind);
        }
        Map<?, ?> parameters = object(learner, "learner_model_param");
        int featureCount = number(parameters, "num_feature", 1, Integer.MAX_VALUE);
        int classCount = number(parameters, "num_class", 0, OUTPUT_COUNT_MAX);
        int targetCount = number(parameters, "num_target", 1, OUTPUT_COUNT_MAX);
        int outputCount = Math.max(1, Math.max(classCount, targetCount));
        String objective = text(object(learner, "objective"), "name");
        float[] baseScores = baseScores(text(parameters, "base_score"), outputCount);
        List<TreeModel.Tree> trees = trees(object(booster, "model"), featureCount, outputCount);
        return new TreeModel(featureCount, outputCount, objective, baseScores, trees);
    }

    /** A bracketed list, one value for all outputs or one for each; older versions wrote a bare number. */
    private static float[] baseScores(String baseScore, int outputCount) {
        String list = baseScore.startsWith("[") && baseScore.endsWith("]")
                ? baseScore.substring(1, baseScore.length() - 1)
                : baseScore;
        String[] items = list.split(",", -1);
        if (items.length != 1 && items.length != outputCount) {
            throw corrupt("base scores must match the outputs", "scores=" + items.length + ", outputs=" + outputCount);
        }
        float[] scores = new float[outputCount];
        for (int output = 0; output < outputCount; output++) {
            String item = items[items.length == 1 ? 0 : output].strip();
            try {
                scores[output] = Float.parseFloat(item);
            } catch (NumberFormatException e) {
                throw corrupt("base score must be a number", "output=" + output);
            }
        }
        return scores;
    }

    private static List<TreeModel.Tree> trees(Map<?, ?> model, int featureCount, int outputCount) {
        List<?> items = list(model, "trees");
        int[] outputs = integers(model, "tree_info");
        float[] weights = model.containsKey("weight_drop") ? floats(model, "weight_drop") : null;
        if (outputs.length != items.size() || (weights != null && weights.length != items.size())) {
            throw corrupt(
                    "every tree must have an output and a weight",
                    "trees=" + items.size() + ", outputs=" + outputs.length + ", weights="
                            + (weights == null ? "none" : weights.length));
        }
        checkIterations(model, items.size());
        List<TreeModel.Tree> trees = new ArrayList<>(items.size());
        for (int index = 0; index < items.size(); index++) {
            if (outputs[index] < 0 || outputs[index] >= outputCount) {
                throw corrupt(
                        "tree output must be below the outputs",
                        "tree=" + index + ", output=" + outputs[index] + ", outputs=" + outputCount);
            }
            float weight = weights == null ? 1 : weights[index];
            trees.add(tree(items.get(index), index, outputs[index], weight, featureCount));
        }
        return trees;
    }

    /** Where the trees of each iteration begin, and at last their count. Before 2.0 the library reckoned it by itself. */
    private static void checkIterations(Map<?, ?> model, int treeCount) {
        if (!model.containsKey("iteration_indptr")) {
            int parallel = number(object(model, "gbtree_model_param"), "num_parallel_tree", 1, Integer.MAX_VALUE);
            if (treeCount == 0) {
                throw corrupt("a model without iterations must have trees", "parallelTrees=" + parallel);
            }
            return;
        }
        int[] begins = integers(model, "iteration_indptr");
        boolean sound = begins.length > 0 && begins[0] == 0 && begins[begins.length - 1] == treeCount;
        for (int index = 1; sound && index < begins.length; index++) {
            sound = begins[index] >= begins[index - 1];
        }
        if (!sound) {
            throw corrupt(
                    "iterations must divide the trees", "iterations=" + (begins.length - 1) + ", trees=" + treeCount);
        }
    }

    private static TreeModel.Tree tree(Object item, int index, int output, float weight, int featureCount) {
        if (!(item instanceof Map<?, ?> fields)) {
            throw corrupt("tree must be an object", "tree=" + index);
        }
        if (!Long.valueOf(index).equals(fields.get("id"))) {
            throw corrupt("trees must be numbered in their order", "tree=" + index);
        }
        if (number(object(fields, "tree_param"), "size_leaf_vector", 0, Integer.MAX_VALUE) > 1) {
            throw unsupported("leaves must hold one value", "tree=" + index);
        }
        if (integers(fields, "categories_nodes").length > 0 || hasCategories(fields)) {
            throw unsupported("splits must be numeric", "tree=" + index);
        }
        int[] left = integers(fields, "left_children");
        int[] right = integers(fields, "right_children");
        int[] feature = integers(fields, "split_indices");
        float[] value = floats(fields, "split_conditions").clone();
        byte[] defaultLeft = bytes(fields, "default_left");
        int count = left.length;
        if (count == 0
                || right.length != count
                || feature.length != count
                || value.length != count
                || defaultLeft.length != count) {
            throw corrupt(
                    "arrays of a tree must have one length",
                    "tree=" + index + ", left=" + count + ", right=" + right.length + ", features=" + feature.length
                            + ", values=" + value.length + ", defaults=" + defaultLeft.length);
        }
        int depth = checkedDepth(index, left, right, feature, value, featureCount);
        checkParents(index, integers(fields, "parents"), left, right);
        for (int node = 0; node < count; node++) {
            if (left[node] < 0) {
                value[node] *= weight;
            }
        }
        return new TreeModel.Tree(output, depth, left, right, feature, value, defaultLeft);
    }

    private static boolean hasCategories(Map<?, ?> fields) {
        if (fields.containsKey("split_type")) {
            for (byte type : bytes(fields, "split_type")) {
                if (type != 0) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The parent of every node but the first is a node, and of every child it is the one that says so. */
    private static void checkParents(int index, int[] parent, int[] left, int[] right) {
        if (parent.length != left.length) {
            throw corrupt(
                    "every node must have a parent",
                    "tree=" + index + ", nodes=" + left.length + ", parents=" + parent.length);
        }
        for (int node = 1; node < parent.length; node++) {
            if (parent[node] < 0 || parent[node] >= parent.length) {
                throw corrupt(
                        "parent must be a node of the tree",
                        "tree=" + index + ", node=" + node + ", parent=" + parent[node] + ", nodes=" + parent.length);
            }
        }
        for (int node = 0; node < parent.length; node++) {
            boolean parts =
                    left[node] > 0 && left[node] < parent.length && right[node] > 0 && right[node] < parent.length;
            if (parts && (parent[left[node]] != node || parent[right[node]] != node)) {
                throw corrupt("child must know its parent", "tree=" + index + ", node=" + node);
            }
        }
    }

    /** Walks a tree level by level: every child in range, no node reached twice, every feature known, no NaN. */
    private static int checkedDepth(
            int index, int[] left, int[] right, int[] feature, float[] value, int featureCount) {
        int count = left.length;
        int[] queue = new int[count];
        boolean[] reached = new boolean[count];
        int tail = 1;
        reached[0] = true;
        int depth = 0;
        int levelEnd = 1;
        for (int head = 0; head < tail; head++) {
            if (head == levelEnd) {
                depth++;
                levelEnd = tail;
            }
            int node = queue[head];
            if (Float.isNaN(value[node])) {
                throw corrupt("tree values must be numbers", "tree=" + index + ", node=" + node);
            }
            if (left[node] == LEAF && right[node] == LEAF) {
                continue;
            }
            if (feature[node] < 0 || feature[node] >= featureCount) {
                throw corrupt(
                        "split feature must be below the feature count",
                        "tree=" + index + ", node=" + node + ", feature=" + feature[node] + ", features="
                                + featureCount);
            }
            for (int child : new int[] {left[node], right[node]}) {
                if (child < 0 || child >= count || reached[child]) {
                    throw corrupt(
                            "child must be a node that no other node has",
                            "tree=" + index + ", node=" + node + ", child=" + child + ", nodes=" + count);
                }
                reached[child] = true;
                queue[tail++] = child;
            }
        }
        return depth;
    }

    private static Map<?, ?> object(Map<?, ?> parent, String key) {
        if (parent.get(key) instanceof Map<?, ?> found) {
            return found;
        }
        throw wrongField(parent, key, "an object");
    }

    private static List<?> list(Map<?, ?> parent, String key) {
        if (parent.get(key) instanceof List<?> found) {
            return found;
        }
        throw wrongField(parent, key, "a list");
    }

    private static String text(Map<?, ?> parent, String key) {
        if (parent.get(key) instanceof String found) {
            return found;
        }
        throw wrongField(parent, key, "a string");
    }

    /** XGBoost writes its parameters as decimal strings. */
    private static int number(Map<?, ?> parent, String key, int lowest, int highest) {
        String text = text(parent, key);
        try {
            int value = Integer.parseInt(text);
            if (value >= lowest && value <= highest) {
                return value;
            }
        } catch (NumberFormatException e) {
            // falls through to the one message below
        }
        throw corrupt(
                "model parameter must be in range",
                "parameter=" + key + ", value=" + text + ", lowest=" + lowest + ", highest=" + highest);
    }

    private static float[] floats(Map<?, ?> parent, String key) {
        Object found = parent.get(key);
        if (found instanceof float[] values) {
            return values;
        }
        if (found instanceof List<?> items) {
            float[] values = new float[items.size()];
            for (int index = 0; index < values.length; index++) {
                values[index] = (float) ((Number) item(parent, key, items.get(index), Number.class)).doubleValue();
            }
            return values;
        }
        throw wrongField(parent, key, "a list of floats");
    }

    private static int[] integers(Map<?, ?> parent, String key) {
        Object found = parent.get(key);
        if (found instanceof int[] values) {
            return values;
        }
        if (found instanceof List<?> items) {
            int[] values = new int[items.size()];
            for (int index = 0; index < values.length; index++) {
                long value = (Long) item(parent, key, items.get(index), Long.class);
                if (value != (int) value) {
                    throw corrupt("integer must fit 32 bits", "field=" + key + ", value=" + value);
                }
                values[index] = (int) value;
            }
            return values;
        }
        throw wrongField(parent, key, "a list of integers");
    }

    private static byte[] bytes(Map<?, ?> parent, String key) {
        if (parent.get(key) instanceof byte[] values) {
            return values;
        }
        int[] wide = integers(parent, key);
        byte[] values = new byte[wide.length];
        for (int index = 0; index < wide.length; index++) {
            values[index] = (byte) wide[index];
        }
        return values;
    }

    private static Object item(Map<?, ?> parent, String key, @Nullable Object item, Class<?> type) {
        if (type.isInstance(item)) {
            return type.cast(item);
        }
        throw wrongField(parent, key, "a list of numbers");
    }

    private static ContractException wrongField(Map<?, ?> parent, String key, String wanted) {
        return corrupt("model field must be " + wanted, "field=" + key + ", present=" + parent.containsKey(key));
    }

    private static ContractException corrupt(String rule, String values) {
        return new ContractException(ErrorCode.CORRUPT_PACKAGE, rule + ": " + values);
    }

    private static ContractException unsupported(String rule, String values) {
        return new ContractException(ErrorCode.UNSUPPORTED_KIND, rule + ": " + values);
    }
}
