package io.millrace.train.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.awaitility.Awaitility;

/** A training child that stands still (SIGSTOP) until closed: even a short training is not over before the test has acted. */
final class HeldChild implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    /** Well below the time a JVM needs to start. */
    private static final Duration POLL = Duration.ofMillis(5);

    private final ProcessHandle process;

    private HeldChild(ProcessHandle process) {
        this.process = process;
        assertThat(signal("STOP")).isZero();
    }

    /** Holds the next child. */
    static HeldChild await() {
        Awaitility.await()
                .atMost(PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(POLL)
                .until(() -> TestingPlatform.children().size() == 1);
        return new HeldChild(TestingPlatform.children().get(0));
    }

    /** Lets it go on, if it is still there. */
    @Override
    public void close() {
        if (process.isAlive()) {
            signal("CONT");
        }
    }

    private int signal(String name) {
        try {
            return new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a child is signalled: pid=" + process.pid(), e);
        }
    }
}
