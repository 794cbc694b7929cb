package io.millrace.train;

import io.millrace.jobs.JobSettings;
import io.millrace.train.dispatch.RunDispatcher;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The run dispatcher: {@code --conf DIR}, which holds {@code database.properties} and {@code train.properties}. Runs until
 * it is told to end; may be started before the database and Flink, and killed at any time.
 */
public final class RunDispatcherMain {
    private static final long STOP_SECONDS = 15;

    private RunDispatcherMain() {}

    public static void main(String[] args) throws InterruptedException {
        JobSettings settings = JobSettings.parse(args);
        TrainConfig config = TrainConfig.from(settings.file("train"));
        Thread main = Thread.currentThread();
        CountDownLatch stopped = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(main, stopped), "stop"));
        try (RunDispatcher dispatcher =
                new RunDispatcher(settings.confDirectory().toAbsolutePath().normalize(), config, settings.database())) {
            dispatcher.run();
        } catch (InterruptedException e) {
            // Asked to end.
        } finally {
            stopped.countDown();
        }
    }

    private static void stop(Thread main, CountDownLatch stopped) {
        main.interrupt();
        try {
            if (!stopped.await(STOP_SECONDS, TimeUnit.SECONDS)) {
                Runtime.getRuntime().halt(1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
