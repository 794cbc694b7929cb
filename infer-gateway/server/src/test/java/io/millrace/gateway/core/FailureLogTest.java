package io.millrace.gateway.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.ErrorCode;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class FailureLogTest {
    private final AtomicLong clock = new AtomicLong();
    private final FailureLog log = new FailureLog(clock::get);

    @Test
    void aFloodIsAFewLinesAndACount() {
        for (int i = 0; i < 5; i++) {
            assertThat(log.admit(ErrorCode.QUEUE_FULL)).isZero();
        }
        for (int i = 0; i < 95; i++) {
            assertThat(log.admit(ErrorCode.QUEUE_FULL)).isNegative();
        }
        assertThat(log.admit(ErrorCode.INTERNAL))
                .as("another code has lines of its own")
                .isZero();
        clock.set(2_000_000_000);
        assertThat(log.admit(ErrorCode.QUEUE_FULL)).isEqualTo(95);
        assertThat(log.admit(ErrorCode.QUEUE_FULL)).isZero();
    }
}
