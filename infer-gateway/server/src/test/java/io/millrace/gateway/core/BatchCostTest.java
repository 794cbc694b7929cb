package io.millrace.gateway.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BatchCostTest {
    private final BatchCost cost = new BatchCost();

    @Test
    void anUnknownModelIsTakenForSlow() {
        assertThat(cost.expectedNanos(1)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void scalesFromTheNearestSmallerSize() {
        cost.record(1, 10);
        cost.record(64, 320);
        assertThat(cost.expectedNanos(1)).isEqualTo(10);
        assertThat(cost.expectedNanos(32)).isEqualTo(320);
        assertThat(cost.expectedNanos(128)).isEqualTo(640);
    }

    @Test
    void takesALargerSizeAsItIs() {
        cost.record(512, 1000);
        assertThat(cost.expectedNanos(1)).isEqualTo(1000);
    }

    @Test
    void followsAChangeSlowly() {
        cost.record(8, 800);
        cost.record(8, 8000);
        assertThat(cost.expectedNanos(8)).isEqualTo(1700);
    }
}
