package io.millrace.gateway.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenBucketTest {
    private static final long START = -5_000_000_000L;
    private static final long MILLI = 1_000_000;

    private final TokenBucket bucket = new TokenBucket(START);

    @ParameterizedTest
    @ValueSource(longs = {1, 3, 7, 10, 999, 1_000_000})
    void aFullBucketHoldsASecondsWorthAndNotOneMore(long perSecond) {
        for (long taken = 0; taken < perSecond; taken++) {
            assertThat(bucket.take(1, perSecond, START)).isZero();
        }
        assertThat(bucket.take(1, perSecond, START)).isPositive();
    }

    @Test
    void aTokenComesBackAtItsTimeAndNotANanosecondEarlier() {
        assertThat(bucket.take(10, 10, START)).isZero();
        assertThat(bucket.take(1, 10, START)).isEqualTo(100 * MILLI);
        assertThat(bucket.take(1, 10, START + 100 * MILLI - 1)).isEqualTo(1);
        assertThat(bucket.take(1, 10, START + 100 * MILLI)).isZero();
        assertThat(bucket.take(1, 10, START + 100 * MILLI)).isEqualTo(100 * MILLI);
    }

    @Test
    void restDoesNotAddUp() {
        long later = START + 3_600_000 * MILLI;
        assertThat(bucket.isFull(later)).isTrue();
        assertThat(bucket.take(10, 10, later)).isZero();
        assertThat(bucket.isFull(later)).isFalse();
        assertThat(bucket.take(1, 10, later)).isEqualTo(100 * MILLI);
    }

    @Test
    void takesAllOrNothing() {
        assertThat(bucket.take(7, 10, START)).isZero();
        assertThat(bucket.take(4, 10, START)).isEqualTo(100 * MILLI);
        assertThat(bucket.take(3, 10, START)).isZero();
    }

    @Test
    void whatIsLargerThanTheBucketPassesWhenItIsFullAndIsPaidOff() {
        assertThat(bucket.take(1, 10, START)).isZero();
        assertThat(bucket.take(25, 10, START)).as("until the bucket is full").isEqualTo(100 * MILLI);
        long full = START + 100 * MILLI;
        assertThat(bucket.take(25, 10, full)).isZero();
        assertThat(bucket.take(1, 10, full)).isEqualTo(1_600 * MILLI);
        assertThat(bucket.take(1, 10, full + 1_600 * MILLI)).isZero();
    }

    @Test
    void whatIsGivenBackCanBeTakenAgain() {
        assertThat(bucket.take(10, 10, START)).isZero();
        bucket.giveBack(4, 10);
        assertThat(bucket.take(5, 10, START)).isEqualTo(100 * MILLI);
        assertThat(bucket.take(4, 10, START)).isZero();
    }

    @Test
    void anotherRateKeepsTheShareThatIsUsed() {
        assertThat(bucket.take(10, 10, START)).isZero();
        assertThat(bucket.take(1, 100, START)).isEqualTo(10 * MILLI);
        assertThat(bucket.take(100, 100, START + 500 * MILLI)).isEqualTo(500 * MILLI);
        assertThat(bucket.take(50, 100, START + 500 * MILLI)).isZero();
    }

    @Test
    void manyThreadsTakeExactlyWhatThereIs() throws InterruptedException {
        AtomicInteger taken = new AtomicInteger();
        CountDownLatch begin = new CountDownLatch(1);
        Thread[] threads = new Thread[4];
        for (int index = 0; index < threads.length; index++) {
            threads[index] = new Thread(() -> {
                try {
                    begin.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                for (int i = 0; i < 1_000; i++) {
                    taken.addAndGet(bucket.take(1, 1_000, START) == 0 ? 1 : 0);
                }
            });
            threads[index].start();
        }
        begin.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(taken.get()).isEqualTo(1_000);
    }
}
