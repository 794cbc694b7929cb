package io.millrace.engine;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/*
 * Two ways to the same margins. The flat arrays were measured faster at every batch size for every ordinary forest (see
 * the module's README), and they need no memory outside the heap; the native library wins only where trees are long chains,
 * since the flat walk takes each row through a tree's full depth. So an ordinary model is loaded natively only to be
 * compared, and then let go; a model of chains keeps its native booster for its larger batches. Which rows are scored
 * together is an accident of load, hence the two must be indistinguishable: both give margins, one link turns either into
 * answers, and loading compares them on made-up rows before the scorer is let out.
 */

/** XGBoost's trees: {@link FlatTrees}, and {@link NativeBooster} for large batches of very deep trees. */
final class XgboostScorer implements Scorer {
    /** Trees deeper than this on average are chains. */
    private static final int CHAIN_DEPTH = 64;

    /** Batches of a model of chains that go to the native library. */
    static final int CHAIN_NATIVE_ROWS_MIN = 64;

    /** Largest difference between the two ways, relative to the answer where that is above 1. */
    private static final float TOLERANCE = 1e-6f;

    private static final int CHECK_ROWS = 32;

    private final int width;
    private final int marginCount;
    private final Link link;
    private final FlatTrees flat;
    private final @Nullable NativeBooster booster;
    private final int nativeRowsMin;
    private final int outputs;
    private final long residentBytes;
    private volatile boolean closed;

    private XgboostScorer(
            TreeModel model,
            FlatTrees flat,
            @Nullable NativeBooster booster,
            int nativeRowsMin,
            int outputs,
            long fileBytes) {
        this.width = model.featureCount();
        this.marginCount = model.outputCount();
        this.link = model.link();
        this.flat = flat;
        this.booster = booster;
        this.nativeRowsMin = nativeRowsMin;
        this.outputs = outputs;
        // XGBoost keeps about what the file holds, nodes and their statistics; doubled to stay above allocator waste.
        this.residentBytes = flat.bytes() + (booster == null ? 0 : 2 * fileBytes);
    }

    /** Parses, checks against the manifest and compares both ways; errors as {@link Engines#load}. */
    static XgboostScorer load(Path file, ModelManifest manifest) {
        TreeModel model = TreeModelParser.parse(file);
        return load(file, model, manifest, nativeRowsMin(model));
    }

    /** The same with a chosen switch: {@link Integer#MAX_VALUE} keeps nothing native. */
    static XgboostScorer load(Path file, TreeModel model, ModelManifest manifest, int nativeRowsMin) {
        int outputs = checkedOutputs(model, manifest);
        NativeBooster booster = NativeBooster.load(file, model);
        boolean kept = false;
        try {
            boolean keep = nativeRowsMin < Integer.MAX_VALUE;
            FlatTrees flat = FlatTrees.of(model, model.baseMargins(booster::logarithm));
            XgboostScorer scorer =
                    new XgboostScorer(model, flat, keep ? booster : null, nativeRowsMin, outputs, Files.size(file));
            scorer.compareWith(booster, model);
            kept = keep;
            return scorer;
        } catch (IOException e) {
            throw new ContractException(
                    ErrorCode.IO_FAILED, "model file cannot be read: file=" + file + ", cause=" + e.getMessage(), e);
        } finally {
            if (!kept) {
                booster.close();
            }
        }
    }

    /** Rows from which the native library is the faster way. */
    static int nativeRowsMin(TreeModel model) {
        long steps = model.trees().stream().mapToLong(TreeModel.Tree::depth).sum();
        boolean chains = steps > (long) CHAIN_DEPTH * model.trees().size();
        return chains ? CHAIN_NATIVE_ROWS_MIN : Integer.MAX_VALUE;
    }

    private static int checkedOutputs(TreeModel model, ModelManifest manifest) {
        if (model.featureCount() != manifest.width()) {
            throw new ContractException(
                    ErrorCode.CORRUPT_PACKAGE,
                    "model must have the manifest's width: features=" + model.featureCount() + ", width="
                            + manifest.width());
        }
        boolean classification = manifest.task() == Task.CLASSIFICATION;
        if (!classification && model.outputCount() > 1 && model.link() != Link.SOFTMAX) {
            throw new ContractException(
                    ErrorCode.UNSUPPORTED_KIND,
                    "regression must have one output, for one target or quantile: objective=" + model.objective()
                            + ", outputs=" + model.outputCount());
        }
        int classCount = manifest.labels().size();
        int outputs = classification && classCount > 2 ? classCount : 1;
        // Two classes may also be trained as softmax; the second probability is then the answer.
        boolean outputsFit = model.outputCount() == outputs || (classCount == 2 && model.outputCount() == 2);
        boolean taskFits = !classification || (classCount >= 2 && model.link().isProbability());
        if (!outputsFit || !taskFits) {
            throw new ContractException(
                    ErrorCode.CORRUPT_PACKAGE,
                    "model must answer the manifest's task: task=" + manifest.task() + ", labels=" + classCount
                            + ", objective=" + model.objective() + ", outputs=" + model.outputCount());
        }
        return outputs;
    }

    @Override
    public int width() {
        return width;
    }

    @Override
    public int outputs() {
        return outputs;
    }

    @Override
    public long residentBytes() {
        return residentBytes;
    }

    @Override
    public void score(float[] features, int rowCount, float[] out) {
        Scorer.checkLengths(this, features, rowCount, out);
        if (closed) {
            throw new IllegalStateException("scorer is closed");
        }
        if (booster == null || rowCount < nativeRowsMin) {
            scoreFlat(features, rowCount, out);
        } else {
            scoreBy(booster, features, rowCount, out);
        }
    }

    /** As {@link #score}, by the flat arrays whatever the batch. */
    void scoreFlat(float[] features, int rowCount, float[] out) {
        float[] margins = marginsFor(rowCount, out);
        flat.margins(features, rowCount, margins);
        answer(margins, rowCount, out);
    }

    /** As {@link #score}, by a native booster of the same model whatever the batch. */
    void scoreBy(NativeBooster natively, float[] features, int rowCount, float[] out) {
        float[] margins = marginsFor(rowCount, out);
        natively.margins(features, rowCount, margins);
        answer(margins, rowCount, out);
    }

    /** The caller's array itself unless two softmax margins become one answer. */
    private float[] marginsFor(int rowCount, float[] out) {
        return marginCount == outputs ? out : new float[rowCount * marginCount];
    }

    private void answer(float[] margins, int rowCount, float[] out) {
        link.apply(margins, rowCount, marginCount);
        if (margins != out) {
            for (int row = 0; row < rowCount; row++) {
                out[row] = margins[row * marginCount + 1];
            }
        }
    }

    /** Rows around the model's own thresholds, with missing values; the seed is fixed so that a load is repeatable. */
    private void compareWith(NativeBooster natively, TreeModel model) {
        SplittableRandom random = new SplittableRandom(1);
        float[] rows = new float[CHECK_ROWS * width];
        for (int index = 0; index < rows.length; index++) {
            int kind = random.nextInt(8);
            rows[index] = kind == 0 ? Float.NaN : kind == 1 ? 0 : (float) (random.nextDouble() * 20 - 10);
        }
        for (TreeModel.Tree tree : model.trees()) {
            for (int node = 0; node < Math.min(tree.nodeCount(), 8); node++) {
                if (!tree.isLeaf(node)) {
                    int row = random.nextInt(CHECK_ROWS);
                    float threshold = tree.value()[node];
                    rows[row * width + tree.feature()[node]] =
                            random.nextBoolean() ? threshold : Math.nextDown(threshold);
                }
            }
        }
        float[] here = new float[CHECK_ROWS * outputs];
        float[] there = new float[CHECK_ROWS * outputs];
        scoreFlat(rows, CHECK_ROWS, here);
        scoreBy(natively, rows, CHECK_ROWS, there);
        for (int index = 0; index < here.length; index++) {
            float difference = Math.abs(here[index] - there[index]);
            if (!(difference <= TOLERANCE * Math.max(1, Math.abs(there[index])))
                    && Float.floatToIntBits(here[index]) != Float.floatToIntBits(there[index])) {
                throw new ContractException(
                        ErrorCode.SCORER_FAILED,
                        "both ways of scoring must agree: row=" + index / outputs + ", difference=" + difference
                                + ", tolerance=" + TOLERANCE);
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        if (booster != null) {
            booster.close();
        }
    }
}
