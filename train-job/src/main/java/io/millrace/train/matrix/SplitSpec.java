package io.millrace.train.matrix;

import io.millrace.train.spec.RunRefusedException;

/**
 * What divides a snapshot's rows into those trained on, those that decide early stopping and those evaluated on.
 *
 * @param testSize share of the rows held out; {@code 0 < testSize < 1}
 * @param sampling how they are chosen
 * @param seed of the keys' hashes
 * @param validationSize share of all rows that decide early stopping; {@code 0 <= validationSize < 1 - testSize}
 */
public record SplitSpec(double testSize, Sampling sampling, long seed, double validationSize) {
    public SplitSpec {
        if (!(testSize > 0 && testSize < 1)) {
            throw new RunRefusedException("test size must be between 0 and 1: testSize=" + testSize);
        }
        if (!(validationSize >= 0 && validationSize + testSize < 1)) {
            throw new RunRefusedException("test and validation rows must leave rows to train on: testSize=" + testSize
                    + ", validationSize=" + validationSize);
        }
    }
}
