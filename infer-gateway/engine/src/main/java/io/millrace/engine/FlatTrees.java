package io.millrace.engine;

/*
 * Which layout. The perfect one takes half to two thirds of the time, but room for every node that a tree of that depth
 * could have. Trees as they are trained are full enough for it to about eight levels: at six it is the smaller one, at ten
 * it is four times as large, and deeper or thinner trees are what links are for. A few trees alone also stay linked, as a
 * group of the perfect layout is walked whole.
 */

/**
 * A tree model as flat arrays: margins in Java, without allocation per tree, equal to XGBoost's.
 *
 * <p>Threads: immutable, any number.
 */
final class FlatTrees {
    /** How much larger than the linked layout the perfect one may be. */
    private static final int PERFECT_FACTOR = 2;

    private final int outputCount;
    private final float[] baseMargins;
    private final TreeLayout layout;

    /** A model in a chosen layout. */
    FlatTrees(float[] baseMargins, TreeLayout layout) {
        this.outputCount = baseMargins.length;
        this.baseMargins = baseMargins;
        this.layout = layout;
    }

    /** Lays a checked model out, with the margins at which its rows start. */
    static FlatTrees of(TreeModel model, float[] baseMargins) {
        boolean perfect = PerfectTrees.treeBytes(model) <= PERFECT_FACTOR * LinkedTrees.treeBytes(model);
        return new FlatTrees(baseMargins, perfect ? PerfectTrees.of(model) : LinkedTrees.of(model));
    }

    TreeLayout layout() {
        return layout;
    }

    /** Bytes of the arrays. */
    long bytes() {
        return layout.bytes() + 4L * baseMargins.length;
    }

    /**
     * Margins of a batch.
     *
     * <p>Shape: {@code rowCount x featureCount} in, {@code rowCount x outputCount} out, row-major; lengths are the
     * caller's care.
     */
    void margins(float[] features, int rowCount, float[] out) {
        for (int row = 0; row < rowCount; row++) {
            System.arraycopy(baseMargins, 0, out, row * outputCount, outputCount);
        }
        layout.addLeaves(features, rowCount, out);
    }
}
