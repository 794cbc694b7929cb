package io.millrace.train.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.train.run.RunStatus;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RunProgressTest {
    @Test
    void saysWhichRoundItIs() {
        RunProgress progress = RunProgress.of(
                Map.of("phase", "training 34/100 logloss", "train-metric", "0.25", "validation-metric", "NaN"), 10);
        assertThat(progress.status()).isEqualTo(RunStatus.TRAINING);
        assertThat(progress.phase()).isEqualTo("round 34 of 100, train logloss 0.25000");
        assertThat(progress.fraction()).isBetween(0.5, 0.51);
    }

    @Test
    void saysThatItWaitsForASlot() {
        assertThat(RunProgress.of(Map.of("phase", JobGauges.SCHEDULED), 10))
                .isEqualTo(new RunProgress(RunStatus.CLAIMED, "waiting for a free Flink slot", 0));
    }

    @Test
    void neverGoesBackFromPhaseToPhase() {
        double last = -1;
        for (Map<String, String> gauges : List.<Map<String, String>>of(
                Map.of("phase", JobGauges.SCHEDULED),
                Map.of(),
                Map.of("rows-exported", "5"),
                Map.of("rows-exported", "10"),
                Map.of("phase", "loading 0/10 ", "rows-exported", "10"),
                Map.of("phase", "training 1/10 rmse"),
                Map.of("phase", "training 10/10 rmse"),
                Map.of("phase", "evaluating 0/10 "),
                Map.of("phase", "publishing 0/10 "))) {
            double fraction = RunProgress.of(gauges, 10).fraction();
            assertThat(fraction).isGreaterThanOrEqualTo(last).isLessThan(1);
            last = fraction;
        }
    }

    @Test
    void bearsGaugesThatAreNotNumbers() {
        assertThat(RunProgress.of(Map.of("phase", "training x", "rows-exported", "y"), 0)
                        .status())
                .isEqualTo(RunStatus.TRAINING);
    }
}
