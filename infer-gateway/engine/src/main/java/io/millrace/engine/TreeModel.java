package io.millrace.engine;

import java.util.List;

/**
 * A gradient-boosted model of regression trees as XGBoost stores it, checked.
 *
 * @param featureCount features the model was trained on; {@code >= 1}
 * @param outputCount margins per row
 * @param objective XGBoost's name of the objective
 * @param baseScores of each output, before the link; {@code outputCount} values
 * @param trees in the order in which XGBoost adds them
 */
@SuppressWarnings("ArrayRecordComponent") // never compared, never changed after parsing
record TreeModel(int featureCount, int outputCount, String objective, float[] baseScores, List<Tree> trees) {

    /**
     * One tree. Nodes are numbered from the root, 0; {@code left[node] == -1} marks a leaf.
     *
     * @param output which margin its leaves add to; {@code 0 <= output < outputCount}
     * @param depth edges from the root to the deepest leaf
     * @param left child taken when {@code feature < value}
     * @param right child taken otherwise
     * @param feature index of the feature a split looks at
     * @param value threshold of a split, value of a leaf (scaled by the tree's weight)
     * @param defaultLeft 1 where a missing feature goes left
     */
    @SuppressWarnings("ArrayRecordComponent") // as above
    record Tree(int output, int depth, int[] left, int[] right, int[] feature, float[] value, byte[] defaultLeft) {
        int nodeCount() {
            return left.length;
        }

        boolean isLeaf(int node) {
            return left[node] < 0;
        }
    }

    /** Where each output's margin starts; {@code outputCount} values. */
    float[] baseMargins(Link.Logarithm logarithm) {
        float[] margins = new float[outputCount];
        for (int output = 0; output < outputCount; output++) {
            margins[output] = Link.baseMargin(objective, baseScores[output], logarithm);
        }
        return margins;
    }

    /** The link of the objective. */
    Link link() {
        return Link.ofObjective(objective);
    }
}
