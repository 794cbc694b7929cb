package io.millrace.engine;

import java.util.ArrayList;
import java.util.List;

/*
 * Why perfect trees, eight together, and a method for one row.
 *
 * A split of a perfect tree needs no link: of position p, the children are 2p and 2p + 1 (Eytzinger's order). What is left
 * of a split is one long, its bound in the upper half and its slot in the lower one, so that a step is two loads and a
 * handful of operations. Their number is what bounds the walk: the chain of loads of one tree is hidden behind those of
 * seven others.
 *
 * Eight trees of one output are a group and share their arrays: level l of the group is at [8 << l, 16 << l), tree t starts
 * at 8 + t, and p needs no offset. A leaf above the deepest level is at the left end of its empty subtree, whose splits are
 * zero: these look at a slot that always sends left. A group that lacks trees is filled up with leaves of negative zero,
 * the one number that leaves every sum as it is.
 *
 * Because trees of different outputs are never in one group, the leaves of a group add up in one register. Only the order
 * within an output decides about the bits of the sum, and that one is kept.
 */

/**
 * Trees in heap order with room for every node: few operations a step, and little memory only if the trees are rather full.
 *
 * <p>Threads: immutable, any number.
 */
final class PerfectTrees implements TreeLayout {
    /** Trees that are walked side by side; {@link #sum} names each. */
    private static final int GROUP_TREES = 8;

    /** Levels beyond which nobody would want this layout, so that lengths stay far from overflow. */
    static final int DEPTH_MAX = 16;

    /** Rows whose scratch is filled together: stays in the first-level cache for the usual widths. */
    private static final int BLOCK_ROWS = 16;

    private static final int SPLIT_AND_LEAF_BYTES = Long.BYTES + Float.BYTES;

    /** A group's record, the headers of its two arrays, and its place in the list. */
    private static final int GROUP_BYTES = 64;

    /** Splits from {@code GROUP_TREES} on, by level; leaves of the deepest level. Arrays of the same length. */
    @SuppressWarnings("ArrayRecordComponent") // never compared, never changed after the model is laid out
    private record Group(int output, long[] splits, float[] leaves) {}

    private final int featureCount;
    private final int outputCount;
    private final RowSlots slots;
    private final List<Group> groups;

    private PerfectTrees(TreeModel model, RowSlots slots, List<Group> groups) {
        this.featureCount = model.featureCount();
        this.outputCount = model.outputCount();
        this.slots = slots;
        this.groups = groups;
    }

    /** Lays out a checked model of trees no deeper than {@link #DEPTH_MAX}. */
    static PerfectTrees of(TreeModel model) {
        RowSlots slots = RowSlots.of(model);
        List<Group> groups = new ArrayList<>();
        for (List<TreeModel.Tree> trees : grouped(model)) {
            int depth = depth(trees);
            Group group =
                    new Group(trees.get(0).output(), new long[GROUP_TREES << depth], new float[GROUP_TREES << depth]);
            for (int index = 0; index < GROUP_TREES; index++) {
                int root = GROUP_TREES + index;
                if (index < trees.size()) {
                    layOut(trees.get(index), 0, root, depth, slots, group);
                } else {
                    group.leaves()[leaf(root, depth, group)] = -0.0f;
                }
            }
            groups.add(group);
        }
        return new PerfectTrees(model, slots, List.copyOf(groups));
    }

    /** The subtree of a node, which is at a position from which there are {@code levels} to the deepest leaves. */
    private static void layOut(TreeModel.Tree tree, int node, int position, int levels, RowSlots slots, Group group) {
        if (tree.isLeaf(node)) {
            group.leaves()[leaf(position, levels, group)] = tree.value()[node];
            return;
        }
        group.splits()[position] = ((long) RowSlots.bound(tree, node) << 32) | slots.slot(tree, node);
        layOut(tree, tree.left()[node], 2 * position, levels - 1, slots, group);
        layOut(tree, tree.right()[node], 2 * position + 1, levels - 1, slots, group);
    }

    /** The leaf that is reached from a position by going left only. */
    private static int leaf(int position, int levels, Group group) {
        return (position << levels) - group.splits().length;
    }

    /** The trees of each output in their order, by eights. */
    private static List<List<TreeModel.Tree>> grouped(TreeModel model) {
        List<List<TreeModel.Tree>> open = new ArrayList<>();
        for (int output = 0; output < model.outputCount(); output++) {
            open.add(new ArrayList<>());
        }
        List<List<TreeModel.Tree>> groups = new ArrayList<>();
        for (TreeModel.Tree tree : model.trees()) {
            List<TreeModel.Tree> group = open.get(tree.output());
            if (group.isEmpty()) {
                groups.add(group);
            }
            group.add(tree);
            if (group.size() == GROUP_TREES) {
                open.set(tree.output(), new ArrayList<>());
            }
        }
        return groups;
    }

    /** Of the deepest tree, at least 1, since a walk takes the first step unasked. */
    private static int depth(List<TreeModel.Tree> trees) {
        return Math.max(1, trees.stream().mapToInt(TreeModel.Tree::depth).max().orElse(0));
    }

    /** Bytes that the trees of a model would take; {@link Long#MAX_VALUE} if they are too deep for this layout. */
    static long treeBytes(TreeModel model) {
        long bytes = 0;
        for (List<TreeModel.Tree> trees : grouped(model)) {
            int depth = depth(trees);
            if (depth > DEPTH_MAX) {
                return Long.MAX_VALUE;
            }
            bytes += GROUP_BYTES + (((long) SPLIT_AND_LEAF_BYTES * GROUP_TREES) << depth);
        }
        return bytes;
    }

    @Override
    public long bytes() {
        long bytes = slots.bytes();
        for (Group group : groups) {
            bytes += GROUP_BYTES + (long) SPLIT_AND_LEAF_BYTES * group.splits().length;
        }
        return bytes;
    }

    @Override
    public void addLeaves(float[] features, int rowCount, float[] out) {
        int[][] block = new int[Math.min(rowCount, BLOCK_ROWS)][slots.count()];
        for (int first = 0; first < rowCount; first += BLOCK_ROWS) {
            int count = Math.min(BLOCK_ROWS, rowCount - first);
            for (int row = 0; row < count; row++) {
                slots.fill(features, (first + row) * featureCount, block[row], 0);
            }
            for (Group group : groups) {
                walkRows(group, block, count, out, first * outputCount + group.output());
            }
        }
    }

    private void walkRows(Group group, int[][] block, int count, float[] out, int from) {
        int at = from;
        for (int row = 0; row < count; row++) {
            out[at] = sum(group.splits(), group.leaves(), block[row], out[at]);
            at += outputCount;
        }
    }

    /**
     * A sum with a group's leaves for one row added, tree by tree. A method for one row: its compiled code is larger than
     * what C2 inlines, so the walks and the arrays stay in registers. Inside a loop over rows they did not, and it took a
     * fifth longer.
     */
    private static float sum(long[] splits, float[] leaves, int[] row, float start) {
        int p0 = next(splits, GROUP_TREES, row);
        int p1 = next(splits, GROUP_TREES + 1, row);
        int p2 = next(splits, GROUP_TREES + 2, row);
        int p3 = next(splits, GROUP_TREES + 3, row);
        int p4 = next(splits, GROUP_TREES + 4, row);
        int p5 = next(splits, GROUP_TREES + 5, row);
        int p6 = next(splits, GROUP_TREES + 6, row);
        int p7 = next(splits, GROUP_TREES + 7, row);
        int top = splits.length;
        while (p0 < top) {
            p0 = next(splits, p0, row);
            p1 = next(splits, p1, row);
            p2 = next(splits, p2, row);
            p3 = next(splits, p3, row);
            p4 = next(splits, p4, row);
            p5 = next(splits, p5, row);
            p6 = next(splits, p6, row);
            p7 = next(splits, p7, row);
        }
        float sum = start + leaves[p0 - top];
        sum += leaves[p1 - top];
        sum += leaves[p2 - top];
        sum += leaves[p3 - top];
        sum += leaves[p4 - top];
        sum += leaves[p5 - top];
        sum += leaves[p6 - top];
        sum += leaves[p7 - top];
        return sum;
    }

    /** Two additions, as a shift competes with the checks of the array bounds for the processor's ports. */
    private static int next(long[] splits, int position, int[] row) {
        long split = splits[position];
        long room = (split >> 32) - row[(int) split];
        return position + (position + (int) (room >>> 63));
    }
}
