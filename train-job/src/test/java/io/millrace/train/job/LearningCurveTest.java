package io.millrace.train.job;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LearningCurveTest {
    @Test
    void keepsEveryRoundOfAShortTraining() {
        LearningCurve curve = new LearningCurve();
        curve.add(1, 0.5, Double.NaN);
        curve.add(2, 0.25, 0.75);
        assertThat(curve.toJson()).isEqualTo("[[1,0.5,null],[2,0.25,0.75]]");
    }

    @Test
    void staysSmallHoweverManyRounds() {
        LearningCurve curve = new LearningCurve();
        for (int round = 1; round <= 100_000; round++) {
            curve.add(round, 1.0 / round, Double.NaN);
        }
        assertThat(curve.rounds()).hasSizeBetween(128, 255).isSorted();
    }
}
