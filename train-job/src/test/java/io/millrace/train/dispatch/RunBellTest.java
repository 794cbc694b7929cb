package io.millrace.train.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** No wait here ends by itself. */
@Timeout(60)
class RunBellTest {
    private static final long FOR_EVER = TimeUnit.DAYS.toMillis(1);

    private final RunBell bell = new RunBell();

    @Test
    void aChangeIsKeptUntilItIsHeard() throws InterruptedException {
        bell.ring();
        bell.await(FOR_EVER);
        bell.await(FOR_EVER);
        bell.heard();
        Thread waiting = waiting();
        bell.ring();
        waiting.join();
    }

    @Test
    void anAnswerEndsOneWait() throws InterruptedException {
        bell.answer();
        bell.await(FOR_EVER);
        Thread waiting = waiting();
        bell.answer();
        waiting.join();
    }

    /** A thread that waits: it is seen to do so. */
    private Thread waiting() {
        Thread thread = new Thread(() -> {
            try {
                bell.await(FOR_EVER);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.start();
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        assertThat(thread.isAlive()).isTrue();
        return thread;
    }
}
