package io.millrace.engine;

/*
 * Why links and a self-loop.
 *
 * A step is next = left + (slot > bound ? 3 : 0), without a branch. A node is three ints: slot, bound (or the bits of the
 * leaf's value), left child; siblings are adjacent. A leaf is its own left child and reads the slot that is never above
 * any int, so walking on stays there and every row of a tree takes the same number of steps: the depth of the tree. So a
 * tree takes memory for the nodes that it has and no others, however deep and thin it is.
 *
 * Four walks run side by side, since each is a chain of dependent loads: four rows of one tree, or four trees of the last
 * rows.
 */

/**
 * Trees of any shape as links between nodes.
 *
 * <p>Threads: immutable, any number.
 */
final class LinkedTrees implements TreeLayout {
    private static final int NODE_LENGTH = 3;

    /** Ints for each tree: root, depth, output. */
    private static final int TREE_LENGTH = 3;

    /** Rows whose scratch is filled together: stays in the first-level cache for the usual widths. */
    private static final int BLOCK_ROWS = 16;

    private final int featureCount;
    private final int outputCount;
    private final RowSlots slots;
    private final int[] nodes;
    private final int[] roots;
    private final int[] depths;
    private final int[] outputs;

    private LinkedTrees(TreeModel model, RowSlots slots, int[] nodes, int[] roots) {
        this.featureCount = model.featureCount();
        this.outputCount = model.outputCount();
        this.slots = slots;
        this.nodes = nodes;
        this.roots = roots;
        this.depths = model.trees().stream().mapToInt(TreeModel.Tree::depth).toArray();
        this.outputs = model.trees().stream().mapToInt(TreeModel.Tree::output).toArray();
    }

    /** Lays out a checked model. */
    static LinkedTrees of(TreeModel model) {
        RowSlots slots = RowSlots.of(model);
        int[] nodes = new int[Math.toIntExact(nodeCount(model) * NODE_LENGTH)];
        int[] roots = new int[model.trees().size()];
        int offset = 0;
        for (int index = 0; index < roots.length; index++) {
            roots[index] = offset;
            offset = layOut(model.trees().get(index), slots, nodes, offset);
        }
        return new LinkedTrees(model, slots, nodes, roots);
    }

    private static long nodeCount(TreeModel model) {
        return model.trees().stream().mapToLong(TreeModel.Tree::nodeCount).sum();
    }

    /** Bytes that the trees of a model would take. */
    static long treeBytes(TreeModel model) {
        return 4 * NODE_LENGTH * nodeCount(model)
                + 4L * TREE_LENGTH * model.trees().size();
    }

    /** Level by level, so that siblings are adjacent and the first steps share cache lines. */
    private static int layOut(TreeModel.Tree tree, RowSlots slots, int[] nodes, int rootOffset) {
        int[] queue = new int[tree.nodeCount()];
        int tail = 1;
        for (int head = 0; head < tail; head++) {
            int node = queue[head];
            int offset = rootOffset + head * NODE_LENGTH;
            if (tree.isLeaf(node)) {
                nodes[offset] = RowSlots.LEFT;
                nodes[offset + 1] = Float.floatToRawIntBits(tree.value()[node]);
                nodes[offset + 2] = offset;
            } else {
                nodes[offset] = slots.slot(tree, node);
                nodes[offset + 1] = RowSlots.bound(tree, node);
                nodes[offset + 2] = rootOffset + tail * NODE_LENGTH;
                queue[tail++] = tree.left()[node];
                queue[tail++] = tree.right()[node];
            }
        }
        return rootOffset + tail * NODE_LENGTH;
    }

    @Override
    public long bytes() {
        return slots.bytes() + 4L * nodes.length + 4L * TREE_LENGTH * roots.length;
    }

    @Override
    public void addLeaves(float[] features, int rowCount, float[] out) {
        int slotCount = slots.count();
        int[] block = new int[Math.min(rowCount, BLOCK_ROWS) * slotCount];
        for (int first = 0; first < rowCount; first += BLOCK_ROWS) {
            int count = Math.min(BLOCK_ROWS, rowCount - first);
            for (int row = 0; row < count; row++) {
                slots.fill(features, (first + row) * featureCount, block, row * slotCount);
            }
            int together = count & ~3;
            if (together > 0) {
                walkRows(block, slotCount, together, out, first * outputCount);
            }
            for (int row = together; row < count; row++) {
                walkTrees(block, row * slotCount, out, (first + row) * outputCount);
            }
        }
    }

    /** Each tree over the rows, four at a time; {@code rowCount} is a multiple of four. */
    private void walkRows(int[] block, int slotCount, int rowCount, float[] out, int outOffset) {
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
                    node0 = next(nodes, node0, block, base0);
                    node1 = next(nodes, node1, block, base1);
                    node2 = next(nodes, node2, block, base2);
                    node3 = next(nodes, node3, block, base3);
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
    private void walkTrees(int[] block, int base, float[] out, int outOffset) {
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
                node0 = next(nodes, node0, block, base);
                node1 = next(nodes, node1, block, base);
                node2 = next(nodes, node2, block, base);
                node3 = next(nodes, node3, block, base);
            }
            out[outOffset + outputs[tree]] += leaf(nodes, node0);
            out[outOffset + outputs[tree + 1]] += leaf(nodes, node1);
            out[outOffset + outputs[tree + 2]] += leaf(nodes, node2);
            out[outOffset + outputs[tree + 3]] += leaf(nodes, node3);
        }
        for (; tree < roots.length; tree++) {
            int node = roots[tree];
            for (int step = 0; step < depths[tree]; step++) {
                node = next(nodes, node, block, base);
            }
            out[outOffset + outputs[tree]] += leaf(nodes, node);
        }
    }

    private static int next(int[] nodes, int node, int[] block, int base) {
        long room = (long) nodes[node + 1] - block[base + nodes[node]];
        return nodes[node + 2] + ((int) (room >> 63) & NODE_LENGTH);
    }

    private static float leaf(int[] nodes, int node) {
        return Float.intBitsToFloat(nodes[node + 1]);
    }
}
