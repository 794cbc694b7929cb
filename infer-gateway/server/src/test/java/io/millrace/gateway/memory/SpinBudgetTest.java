package io.millrace.gateway.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SpinBudgetTest {
    private final SpinBudget budget = new SpinBudget(50);

    private void takeOneByOne(int count, int connectionId) {
        for (int i = 0; i < count; i++) {
            budget.taken(1, connectionId);
        }
    }

    @Test
    void onlyALoneSessionIsWaitedFor() {
        assertThat(budget.nanos()).isZero();
        takeOneByOne(SpinBudget.LONE_MIN + 1, 7);
        assertThat(budget.nanos()).isEqualTo(50);
        budget.taken(1, 8);
        assertThat(budget.nanos()).isZero();
    }

    @Test
    void severalRequestsAtOnceAreNotALoneSession() {
        takeOneByOne(SpinBudget.LONE_MIN + 1, 7);
        budget.taken(2, 7);
        assertThat(budget.nanos()).isZero();
    }

    @Test
    void vainWaitsAreGivenUpAndTriedAgainMuchLater() {
        takeOneByOne(SpinBudget.LONE_MIN + 1, 7);
        for (int i = 0; i < SpinBudget.VAIN_MAX - 1; i++) {
            budget.waited(false);
        }
        budget.waited(true);
        for (int i = 0; i < SpinBudget.VAIN_MAX; i++) {
            assertThat(budget.nanos()).isEqualTo(50);
            budget.waited(false);
        }
        assertThat(budget.nanos()).isZero();
        takeOneByOne(SpinBudget.PAUSE - 1, 7);
        assertThat(budget.nanos()).isZero();
        takeOneByOne(1, 7);
        assertThat(budget.nanos()).isEqualTo(50);
    }
}
