package io.millrace.train.matrix;

import io.millrace.train.spec.RunRefusedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the rank of every usable row once and finds the bounds that divide them exactly.
 *
 * <p>A stratum of n rows gives {@code round(n * testSize)} test rows, at least one if it has two or more rows, and
 * always keeps one to train on. Memory does not grow with the rows.
 */
public final class SplitChooser implements AutoCloseable {
    private final SplitSpec spec;
    private final List<RankFile> strata = new ArrayList<>();

    /**
     * @param spec the split
     * @param classCount classes of the label; 0 for a regression
     * @param scratch an existing directory for temporary files
     */
    public SplitChooser(SplitSpec spec, int classCount, Path scratch) throws IOException {
        this.spec = spec;
        int count = spec.sampling() == Sampling.STRATIFIED ? Math.max(classCount, 1) : 1;
        try {
            for (int stratum = 0; stratum < count; stratum++) {
                strata.add(new RankFile(scratch.resolve("ranks-" + stratum)));
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Strata the rows fall into: one per class when stratified, else one. */
    public int strata() {
        return strata.size();
    }

    /** Adds a row. */
    public void add(int stratum, long rank) throws IOException {
        strata.get(stratum).append(rank);
    }

    /**
     * The rule, once all rows are added.
     *
     * @throws RunRefusedException if there are too few rows to hold any out
     */
    public SplitRule rule() throws IOException {
        List<SplitRule.Bounds> bounds = new ArrayList<>();
        long testRows = 0;
        long rows = 0;
        for (RankFile ranks : strata) {
            long test = share(ranks.count(), spec.testSize());
            long validation =
                    Math.min(share(ranks.count(), spec.validationSize()), Math.max(0, ranks.count() - test - 1));
            bounds.add(
                    ranks.count() == 0
                            ? new SplitRule.Bounds(0, 0, 0)
                            : new SplitRule.Bounds(ranks.select(test), ranks.select(test + validation), ranks.count()));
            testRows += test;
            rows += ranks.count();
        }
        if (testRows == 0) {
            throw new RunRefusedException(
                    "a snapshot must have two or more rows with a label to train and test on: rows=" + rows);
        }
        return new SplitRule(bounds);
    }

    private static long share(long rows, double size) {
        if (size == 0 || rows < 2) {
            return 0;
        }
        return Math.min(rows - 1, Math.max(1, Math.round(rows * size)));
    }

    @Override
    public void close() throws IOException {
        for (RankFile ranks : strata) {
            ranks.close();
        }
    }
}
