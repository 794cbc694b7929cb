package io.millrace.engine;

import java.util.Arrays;
import java.util.BitSet;

/*
 * Why integers, and two of them for a feature.
 *
 * A branch on "feature < threshold" is mispredicted half of the time, and a misprediction costs more than the comparison.
 * So a walk is arithmetic only, and a comparison must be the sign of a subtraction.
 *
 * Order: a float32 is mapped to an int with the same order (the sign-magnitude bits folded to one's complement). Negative
 * zero is first made positive, since the two compare equal. The mapping is exact: a comparison gives what XGBoost's float
 * comparison gives for every pair of non-NaN values.
 *
 * Missing: each feature that any tree uses has two slots in the row's scratch, in which NaN is lower or higher than every
 * number; a split reads the one that sends its missing values where they belong. Without a test for NaN: in this order
 * the quiet ones lie beyond the two infinities, at least NAN_DISTANCE away from them. Adding that distance makes those
 * above wrap around to the bottom, and nothing else; subtracting it makes those below wrap around to the top. The addition
 * that makes zero positive also makes a signalling NaN quiet.
 *
 * A split holds its bound, the highest value that goes left, since "slot > bound" is one operation less than its negation.
 */

/**
 * The scratch that trees read of a row: ints that order as its features do, missing values included.
 *
 * <p>Threads: immutable, any number.
 */
final class RowSlots {
    /** Holds what is never above a bound: where there is nothing to decide, the walk goes left. */
    static final int LEFT = 0;

    private static final int NAN_DISTANCE = 0x0040_0000;

    /** Features that some tree looks at, ascending; the slots of {@code used[index]} are {@code 1 + 2 * index} and the next. */
    private final int[] used;

    private RowSlots(int[] used) {
        this.used = used;
    }

    /** For the features that the trees of a checked model look at. */
    static RowSlots of(TreeModel model) {
        BitSet used = new BitSet();
        for (TreeModel.Tree tree : model.trees()) {
            for (int node = 0; node < tree.nodeCount(); node++) {
                if (!tree.isLeaf(node)) {
                    used.set(tree.feature()[node]);
                }
            }
        }
        return new RowSlots(used.stream().toArray());
    }

    /** Slots of a row. */
    int count() {
        return 1 + 2 * used.length;
    }

    /** Bytes of the array. */
    long bytes() {
        return (long) Integer.BYTES * used.length;
    }

    /** Where a split of a tree looks. */
    int slot(TreeModel.Tree tree, int node) {
        return 1 + 2 * Arrays.binarySearch(used, tree.feature()[node]) + (missingGoesLeft(tree, node) ? 0 : 1);
    }

    /** The highest value of its slot with which a row goes left at a split. */
    static int bound(TreeModel.Tree tree, int node) {
        return ordered(tree.value()[node]) + (missingGoesLeft(tree, node) ? NAN_DISTANCE : -NAN_DISTANCE) - 1;
    }

    private static boolean missingGoesLeft(TreeModel.Tree tree, int node) {
        return tree.defaultLeft()[node] != 0;
    }

    /** Fills the slots from {@code slots[to]} on with the row that starts at {@code features[from]}. */
    void fill(float[] features, int from, int[] slots, int to) {
        int[] used = this.used;
        slots[to + LEFT] = Integer.MIN_VALUE;
        for (int index = 0; index < used.length; index++) {
            int order = ordered(features[from + used[index]]);
            slots[to + 1 + 2 * index] = order + NAN_DISTANCE;
            slots[to + 2 + 2 * index] = order - NAN_DISTANCE;
        }
    }

    /** An int that orders as the float does; NaN is beyond the infinities. */
    private static int ordered(float value) {
        int bits = Float.floatToRawIntBits(value + 0.0f);
        return bits ^ ((bits >> 31) >>> 1);
    }
}
