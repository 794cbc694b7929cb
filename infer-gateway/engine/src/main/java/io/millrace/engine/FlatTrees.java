package io.millrace.engine;

/*
 * Why integers, slots and a self-loop.
 *
 * A branch on "feature < threshold" is mispredicted half of the time, and a misprediction costs more than the comparison.
 * So a step is arithmetic only: next = left + (feature < threshold ? 0 : 3), and three things make it so.
 *
 * Order: a float32 is mapped to an int with the same order (the sign-magnitude bits folded to two's complement), so the
 * comparison is the sign of a subtraction. Negative zero is first made positive, since the two compare equal. The mapping
 * is exact: a comparison gives what XGBoost's float comparison gives for every pair of non-NaN values.
 *
 * Missing: each feature that any tree uses has two slots in the row's scratch; NaN is the lowest int in the first and the
 * highest in the second. A split reads the first if its missing values go left, the second if they go right.
 *
 * Leaves: a leaf is its own left child and reads slot 0, which is always lower than its "threshold", so walking on stays
 * there and every row of a tree takes the same number of steps: the depth of the tree.
 *
 * A node is three ints: slot, threshold (or the bits of the leaf's value), left child; siblings are adjacent. Four walks
 * run side by side, since each is a chain of dependent loads: four rows of one tree, or four trees of the last rows.
 * Leaves are added in float32 in the order of the trees, as XGBoost adds them.
 */

/**
 * A tree model as flat arrays: margins in Java, without allocation per tree, equal to XGBoost's.
 *
 * <p>Threads: immutable, any number.
 */
final class FlatTrees {
    private static final int NODE_LENGTH = 3;

    /** Always lower than any leaf's bits, see {@link #leafBits}. */
    private static final int SENTINEL = Integer.MIN_VALUE;

    /** Rows whose scratch is filled together: stays in the first-level cache for the usual widths. */
    private static final int BLOCK_ROWS = 16;

    private final int featureCount;
    private final int outputCount;
    private final float[] baseMargins;
    /** Features that some tree looks at; slot pair of {@code used[index]} is {@code 1 + 2 * index}. */
    private final int[] used;

    private final int[] nodes;
    private final int[] roots;
    private final int[] depths;
    private final int[] outputs;

    private FlatTrees(TreeModel model, float[] baseMargins, int[] used, int[] nodes, int[] roots) {
        this.featureCount = model.featureCount();
        this.outputCount = model.outputCount();
        this.baseMargins = baseMargins;
        this.used = used;
        this.nodes = nodes;
        this.roots = roots;
        this.depths = model.trees().stream().mapToInt(TreeModel.Tree::depth).toArray();
        this.outputs = model.trees().stream().mapToInt(TreeModel.Tree::output).toArray();
    }

    /** Lays a checked model out, with the margins at which its rows start. */
    static FlatTrees of(TreeModel model, float[] baseMargins) {
        int[] slotOfFeature = new int[model.featureCount()];
        int usedCount = 0;
        long nodeCount = 0;
        for (TreeModel.Tree tree : model.trees()) {
            nodeCount += tree.nodeCount();
            for (int node = 0; node < tree.nodeCount(); node++) {
                if (!tree.isLeaf(node) && slotOfFeature[tree.feature()[node]] == 0) {
                    slotOfFeature[tree.feature()[node]] = 1 + 2 * usedCount++;
                }
            }
        }
        int[] used = new int[usedCount];
        for (int feature = 0; feature < slotOfFeature.length; feature++) {
            if (slotOfFeature[feature] > 0) {
                used[(slotOfFeature[feature] - 1) / 2] = feature;
            }
        }
        int[] nodes = new int[Math.toIntExact(nodeCount * NODE_LENGTH)];
        int[] roots = new int[model.trees().size()];
        int offset = 0;
        for (int index = 0; index < roots.length; index++) {
            roots[index] = offset;
            offset = layOut(model.trees().get(index), slotOfFeature, nodes, offset);
        }
        return new FlatTrees(model, baseMargins, used, nodes, roots);
    }

    /** Level by level, so that siblings are adjacent and the first steps share cache lines. */
    private static int layOut(TreeModel.Tree tree, int[] slotOfFeature, int[] nodes, int rootOffset) {
        int[] queue = new int[tree.nodeCount()];
        int tail = 1;
        for (int head = 0; head < tail; head++) {
            int node = queue[head];
            int offset = rootOffset + head * NODE_LENGTH;
            if (tree.isLeaf(node)) {
                nodes[offset] = 0;
                nodes[offset + 1] = leafBits(tree.value()[node]);
                nodes[offset + 2] = offset;
            } else {
                int missingRight = tree.defaultLeft()[node] == 0 ? 1 : 0;
                nodes[offset] = slotOfFeature[tree.feature()[node]] + missingRight;
                nodes[offset + 1] = ordered(tree.value()[node]);
                nodes[offset + 2] = rootOffset + tail * NODE_LENGTH;
                queue[tail++] = tree.left()[node];
                queue[tail++] = tree.right()[node];
            }
        }
        return rootOffset + tail * NODE_LENGTH;
    }

    /** Adding positive zero turns the one pattern equal to the sentinel, negative zero, into positive zero. */
    private static int leafBits(float value) {
        return Float.floatToRawIntBits(value + 0.0f);
    }

    /** An int that orders as the float does; not for NaN. */
    static int ordered(float value) {
        int bits = Float.floatToRawIntBits(value + 0.0f);
        return bits ^ ((bits >> 31) & 0x7FFFFFFF);
    }

    /** Bytes of the arrays. */
    long bytes() {
        return 4L * nodes.length + 4L * used.length + 12L * roots.length;
    }

    /**
     * Margins of a batch.
     *
     * <p>Shape: {@code rowCount x featureCount} in, {@code rowCount x outputCount} out, row-major; lengths are the
     * caller's care.
     */
    void margins(float[] features, int rowCount, float[] out) {
        int slotCount = 1 + 2 * used.length;
        int[] slots = new int[Math.min(rowCount, BLOCK_ROWS) * slotCount];
        for (int first = 0; first < rowCount; first += BLOCK_ROWS) {
            int count = Math.min(BLOCK_ROWS, rowCount - first);
            for (int row = 0; row < count; row++) {
                fillSlots(features, (first + row) * featureCount, slots, row * slotCount);
                System.arraycopy(baseMargins, 0, out, (first + row) * outputCount, outputCount);
            }
            int together = count & ~3;
            if (together > 0) {
                walkRows(slots, slotCount, together, out, first * outputCount);
            }
            for (int row = together; row < count; row++) {
                walkTrees(slots, row * slotCount, out, (first + row) * outputCount);
            }
        }
    }

    private void fillSlots(float[] features, int from, int[] slots, int to) {
        slots[to] = SENTINEL;
        int slot = to + 1;
        for (int feature : used) {
            float value = features[from + feature];
            boolean missing = Float.isNaN(value);
            int order = ordered(value);
            slots[slot] = missing ? Integer.MIN_VALUE : order;
            slots[slot + 1] = missing ? Integer.MAX_VALUE : order;
            slot += 2;
        }
    }

    /** Each tree over the rows, four at a time; {@code rowCount} is a multiple of four. */
    private void walkRows(int[] slots, int slotCount, int rowCount, float[] out, int outOffset) {
        int[] nodes = this.nodes;
        for (int tree = 0; tree < roots.length; tree++) {
            int root = roots[tree];
            int depth = depths[tree];
            int target = outOffset + outputs[tree];
            for (int row = 0; row < rowCount; row += 4) {
                int base0 = row * slotCount;
                int base1 = base0 + slotCount;
                int base2 = base1 + slotCount;
                int base3 = base2 + slotCount;
                int node0 = root;
                int node1 = root;
                int node2 = root;
                int node3 = root;
                for (int step = 0; step < depth; step++) {
                    node0 = next(nodes, node0, slots, base0);
                    node1 = next(nodes, node1, slots, base1);
                    node2 = next(nodes, node2, slots, base2);
                    node3 = next(nodes, node3, slots, base3);
                }
                int at = target + row * outputCount;
                out[at] += leaf(nodes, node0);
                out[at + outputCount] += leaf(nodes, node1);
                out[at + 2 * outputCount] += leaf(nodes, node2);
                out[at + 3 * outputCount] += leaf(nodes, node3);
            }
        }
    }

    /** One row through all trees, four at a time. */
    private void walkTrees(int[] slots, int base, float[] out, int outOffset) {
        int[] nodes = this.nodes;
        int tree = 0;
        for (; tree + 4 <= roots.length; tree += 4) {
            int node0 = roots[tree];
            int node1 = roots[tree + 1];
            int node2 = roots[tree + 2];
            int node3 = roots[tree + 3];
            int depth =
                    Math.max(Math.max(depths[tree], depths[tree + 1]), Math.max(depths[tree + 2], depths[tree + 3]));
            for (int step = 0; step < depth; step++) {
                node0 = next(nodes, node0, slots, base);
                node1 = next(nodes, node1, slots, base);
                node2 = next(nodes, node2, slots, base);
                node3 = next(nodes, node3, slots, base);
            }
            out[outOffset + outputs[tree]] += leaf(nodes, node0);
            out[outOffset + outputs[tree + 1]] += leaf(nodes, node1);
            out[outOffset + outputs[tree + 2]] += leaf(nodes, node2);
            out[outOffset + outputs[tree + 3]] += leaf(nodes, node3);
        }
        for (; tree < roots.length; tree++) {
            int node = roots[tree];
            for (int step = 0; step < depths[tree]; step++) {
                node = next(nodes, node, slots, base);
            }
            out[outOffset + outputs[tree]] += leaf(nodes, node);
        }
    }

    private static int next(int[] nodes, int node, int[] slots, int base) {
        long difference = (long) slots[base + nodes[node]] - nodes[node + 1];
        return nodes[node + 2] + ((int) (~difference >> 63) & NODE_LENGTH);
    }

    private static float leaf(int[] nodes, int node) {
        return Float.intBitsToFloat(nodes[node + 1]);
    }
}
