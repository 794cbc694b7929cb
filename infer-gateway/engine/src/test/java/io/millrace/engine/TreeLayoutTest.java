package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each layout against a walk that compares floats, over random trees and the values at which they may go wrong. */
class TreeLayoutTest {
    private static final float[] ODD_VALUES = {
        Float.NaN,
        Float.intBitsToFloat(0xFFC0_0000), // NaN of the other sign
        Float.intBitsToFloat(0x7FFF_FFFF), // the extremes of either kind
        Float.intBitsToFloat(0xFFFF_FFFF),
        Float.intBitsToFloat(0x7F80_0001), // signalling
        Float.intBitsToFloat(0xFF80_0001),
        0.0f,
        -0.0f,
        Float.POSITIVE_INFINITY,
        Float.NEGATIVE_INFINITY,
        Float.MAX_VALUE,
        -Float.MAX_VALUE,
        Float.MIN_VALUE,
        -Float.MIN_VALUE
    };

    enum Layout {
        LINKED,
        PERFECT;

        TreeLayout of(TreeModel model) {
            return this == LINKED ? LinkedTrees.of(model) : PerfectTrees.of(model);
        }
    }

    /** Grows a tree; {@code growth} is the chance of a split above the limit of depth, 1 for a perfect tree. */
    private static final class Grower {
        private final SplittableRandom random;
        private final int featureCount;
        private final int depthMax;
        private final double growth;
        private final List<int[]> links = new ArrayList<>(); // left, right, feature, default left
        private final List<Float> values = new ArrayList<>();
        private int depth;

        Grower(SplittableRandom random, int featureCount, int depthMax, double growth) {
            this.random = random;
            this.featureCount = featureCount;
            this.depthMax = depthMax;
            this.growth = growth;
        }

        TreeModel.Tree tree(int output) {
            node(0);
            return new TreeModel.Tree(output, depth, column(0), column(1), column(2), floats(values), bytes(column(3)));
        }

        private int node(int level) {
            depth = Math.max(depth, level);
            int node = links.size();
            int[] link = {-1, -1, 0, 0};
            links.add(link);
            boolean split = level < depthMax && random.nextDouble() < growth;
            values.add(split ? threshold() : leaf());
            if (split) {
                link[0] = node(level + 1);
                link[1] = node(level + 1);
                link[2] = random.nextInt(featureCount);
                link[3] = random.nextInt(2);
            }
            return node;
        }

        private float threshold() {
            float odd = ODD_VALUES[random.nextInt(ODD_VALUES.length)];
            return random.nextInt(3) == 0 && !Float.isNaN(odd) ? odd : random.nextInt(-3, 4) * 0.5f;
        }

        private float leaf() {
            int kind = random.nextInt(8);
            return kind == 0 ? -0.0f : kind == 1 ? 0.0f : (float) (random.nextDouble() - 0.5);
        }

        private int[] column(int index) {
            return links.stream().mapToInt(link -> link[index]).toArray();
        }
    }

    private static float[] floats(List<Float> values) {
        float[] floats = new float[values.size()];
        for (int index = 0; index < floats.length; index++) {
            floats[index] = values.get(index);
        }
        return floats;
    }

    private static byte[] bytes(int[] values) {
        byte[] bytes = new byte[values.length];
        for (int index = 0; index < bytes.length; index++) {
            bytes[index] = (byte) values[index];
        }
        return bytes;
    }

    private static TreeModel forest(SplittableRandom random, int treeCount, int depthMax, double growth) {
        int featureCount = random.nextInt(1, 20);
        int outputCount = random.nextInt(1, 5);
        List<TreeModel.Tree> trees = IntStream.range(0, treeCount)
                .mapToObj(index -> new Grower(random, featureCount, depthMax, growth).tree(random.nextInt(outputCount)))
                .toList();
        float[] baseScores = new float[outputCount];
        for (int output = 0; output < outputCount; output++) {
            baseScores[output] = random.nextInt(3) == 0 ? -0.0f : (float) random.nextDouble();
        }
        return new TreeModel(featureCount, outputCount, "reg:squarederror", baseScores, trees);
    }

    /** Rows of odd values, and of the thresholds and what is next to them. */
    private static float[] rows(SplittableRandom random, TreeModel model, int rowCount) {
        float[] rows = new float[rowCount * model.featureCount()];
        for (int index = 0; index < rows.length; index++) {
            float threshold = random.nextInt(-3, 4) * 0.5f;
            rows[index] = switch (random.nextInt(4)) {
                case 0 -> ODD_VALUES[random.nextInt(ODD_VALUES.length)];
                case 1 -> threshold;
                case 2 -> random.nextBoolean() ? Math.nextUp(threshold) : Math.nextDown(threshold);
                default -> (float) (random.nextDouble() * 4 - 2);
            };
        }
        return rows;
    }

    private static float[] expected(TreeModel model, float[] rows, int rowCount) {
        float[] margins = new float[rowCount * model.outputCount()];
        for (int row = 0; row < rowCount; row++) {
            System.arraycopy(model.baseScores(), 0, margins, row * model.outputCount(), model.outputCount());
            for (TreeModel.Tree tree : model.trees()) {
                int node = 0;
                while (!tree.isLeaf(node)) {
                    float value = rows[row * model.featureCount() + tree.feature()[node]];
                    boolean left = Float.isNaN(value) ? tree.defaultLeft()[node] == 1 : value < tree.value()[node];
                    node = left ? tree.left()[node] : tree.right()[node];
                }
                margins[row * model.outputCount() + tree.output()] += tree.value()[node];
            }
        }
        return margins;
    }

    private static int[] bits(float[] values) {
        return IntStream.range(0, values.length)
                .map(index -> Float.floatToRawIntBits(values[index]))
                .toArray();
    }

    private static void assertExact(Layout layout, SplittableRandom random, TreeModel model) {
        int rowCount = random.nextInt(40);
        float[] rows = rows(random, model, rowCount);
        float[] expected = expected(model, rows, rowCount);
        FlatTrees trees = new FlatTrees(model.baseScores(), layout.of(model));
        float[] together = new float[expected.length];
        trees.margins(rows, rowCount, together);
        assertThat(bits(together)).isEqualTo(bits(expected));
        int width = model.featureCount();
        int outputs = model.outputCount();
        for (int row = 0; row < rowCount; row++) {
            float[] alone = new float[outputs];
            trees.margins(Arrays.copyOfRange(rows, row * width, (row + 1) * width), 1, alone);
            assertThat(bits(alone)).isEqualTo(bits(Arrays.copyOfRange(expected, row * outputs, (row + 1) * outputs)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void addsTheLeavesThatFloatsReach(Layout layout) {
        SplittableRandom random = new SplittableRandom(1);
        for (int depthMax = 0; depthMax <= 12; depthMax++) {
            for (double growth : new double[] {0.5, 0.75, 0.9}) {
                assertExact(layout, random, forest(random, random.nextInt(24), depthMax, growth));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void addsTheLeavesOfFullTrees(Layout layout) {
        SplittableRandom random = new SplittableRandom(2);
        for (int depthMax = 0; depthMax <= 7; depthMax++) {
            assertExact(layout, random, forest(random, 17, depthMax, 1));
        }
    }

    @ParameterizedTest
    @EnumSource
    void noTreesLeaveTheBase(Layout layout) {
        SplittableRandom random = new SplittableRandom(3);
        assertExact(layout, random, forest(random, 0, 0, 0));
    }

    @Test
    void fullTreesArePerfectAndThinOrDeepOnesLinked() {
        SplittableRandom random = new SplittableRandom(4);
        TreeModel full = forest(random, 40, 6, 1);
        assertThat(FlatTrees.of(full, full.baseScores()).layout()).isInstanceOf(PerfectTrees.class);
        TreeModel thin = forest(random, 40, 12, 0.6);
        assertThat(FlatTrees.of(thin, thin.baseScores()).layout()).isInstanceOf(LinkedTrees.class);
        TreeModel lone = forest(random, 1, 6, 1);
        assertThat(FlatTrees.of(lone, lone.baseScores()).layout()).isInstanceOf(LinkedTrees.class);
        TreeModel deep = forest(random, 16, PerfectTrees.DEPTH_MAX + 1, 0.7);
        assertThat(deep.trees().stream().mapToInt(TreeModel.Tree::depth).max()).hasValue(PerfectTrees.DEPTH_MAX + 1);
        assertThat(PerfectTrees.treeBytes(deep)).isEqualTo(Long.MAX_VALUE);
        assertThat(FlatTrees.of(deep, deep.baseScores()).layout()).isInstanceOf(LinkedTrees.class);
    }

    @Test
    void bytesAreThoseOfTheTreesAndOfTheFeaturesInUse() {
        TreeModel.Tree tree = new TreeModel.Tree(
                0, 1, new int[] {1, -1, -1}, new int[] {2, -1, -1}, new int[] {5, 0, 0}, new float[3], new byte[3]);
        TreeModel model = new TreeModel(9, 1, "reg:squarederror", new float[1], List.of(tree));
        assertThat(LinkedTrees.treeBytes(model)).isEqualTo(3 * 12 + 12);
        assertThat(LinkedTrees.of(model).bytes()).isEqualTo(3 * 12 + 12 + 4);
        assertThat(PerfectTrees.treeBytes(model)).isEqualTo(64 + 16 * 12);
        assertThat(PerfectTrees.of(model).bytes()).isEqualTo(64 + 16 * 12 + 4);
    }
}
