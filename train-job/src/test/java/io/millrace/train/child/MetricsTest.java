package io.millrace.train.child;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import org.assertj.core.api.MapAssert;
import org.junit.jupiter.api.Test;

/** Expected numbers are scikit-learn 1.x's for the same rows. */
class MetricsTest {
    private static final double EQUAL = 1e-7;

    @Test
    void binaryMetricsEqualTheReference() {
        BinaryMetrics metrics = new BinaryMetrics();
        boolean[] actual = {true, false, true, true, false, false, false, true};
        float[] probability = {0.9f, 0.1f, 0.4f, 0.8f, 0.4f, 0.7f, 0.2f, 0.6f};
        for (int row = 0; row < actual.length; row++) {
            metrics.add(actual[row], probability[row]);
        }
        check(metrics.values())
                .hasEntrySatisfying("auc", value -> equal(value, 0.84375))
                .hasEntrySatisfying("accuracy", value -> equal(value, 0.75))
                .hasEntrySatisfying("f1", value -> equal(value, 0.75))
                .hasEntrySatisfying("f1_positive", value -> equal(value, 0.75))
                .hasEntrySatisfying("precision_positive", value -> equal(value, 0.75))
                .hasEntrySatisfying("recall_positive", value -> equal(value, 0.75))
                .hasEntrySatisfying("mcc", value -> equal(value, 0.5))
                .hasEntrySatisfying("log_loss", value -> assertThat(value).isCloseTo(0.4748654, within(1e-6)));
    }

    @Test
    void binaryMetricsOfOneClassHaveNoAreaUnderTheCurve() {
        BinaryMetrics metrics = new BinaryMetrics();
        metrics.add(true, 1f);
        metrics.add(true, 0.2f);
        assertThat(metrics.values()).doesNotContainKey("auc");
        assertThat(metrics.values().values())
                .allSatisfy(value -> assertThat(value).isFinite());
    }

    @Test
    void aConfidentMistakeIsNotInfinite() {
        BinaryMetrics metrics = new BinaryMetrics();
        metrics.add(true, 0f);
        check(metrics.values()).hasEntrySatisfying("log_loss", value -> equal(value, -Math.log(Math.ulp(1f))));
    }

    @Test
    void multiclassMetricsEqualTheReference() {
        MulticlassMetrics metrics = new MulticlassMetrics(3);
        int[] actual = {0, 1, 2, 2, 1, 0, 1};
        int[] predicted = {0, 2, 2, 2, 1, 0, 0};
        for (int row = 0; row < actual.length; row++) {
            metrics.add(actual[row], predicted[row], 0.5f);
        }
        check(metrics.values())
                .hasEntrySatisfying("accuracy", value -> equal(value, 5.0 / 7))
                .hasEntrySatisfying("f1", value -> equal(value, (0.8 + 0.5 + 0.8) / 3))
                .hasEntrySatisfying("mcc", value -> assertThat(value).isCloseTo(0.6454972, within(1e-6)))
                .hasEntrySatisfying("log_loss", value -> equal(value, Math.log(2)));
    }

    @Test
    void regressionMetricsEqualTheReference() {
        RegressionMetrics metrics = new RegressionMetrics();
        metrics.add(3, 2.5);
        metrics.add(-0.5, 0);
        metrics.add(2, 2);
        metrics.add(7, 8);
        check(metrics.values())
                .hasEntrySatisfying("r2", value -> equal(value, 0.9486081370449679))
                .hasEntrySatisfying("mae", value -> equal(value, 0.5))
                .hasEntrySatisfying("rmse", value -> equal(value, Math.sqrt(0.375)));
    }

    @Test
    void quotesFieldsThatNeedIt() {
        assertThat(Evaluation.quoted("(1,\"a\")")).isEqualTo("\"(1,\"\"a\"\")\"");
        assertThat(Evaluation.quoted("17")).isEqualTo("17");
    }

    @Test
    void readsTheLibrarysEvaluationLine() {
        assertThat(NativeBooster.values("[3]\tmatrix0-logloss:0.125\tmatrix1-logloss:nan", 2))
                .containsExactly(0.125, Double.NaN);
    }

    private static MapAssert<String, Double> check(Map<String, Double> values) {
        return assertThat(values);
    }

    private static void equal(double value, double expected) {
        assertThat(value).isCloseTo(expected, within(EQUAL));
    }
}
