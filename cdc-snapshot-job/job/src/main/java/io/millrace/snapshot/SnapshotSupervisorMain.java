package io.millrace.snapshot;

import io.millrace.jobs.JobSettings;
import io.millrace.snapshot.supervise.SupervisorLoop;

/**
 * The supervisor's entry class: {@code --conf DIR}. Runs until SIGTERM; then the change job goes on or is stopped with a savepoint,
 * as {@code stop-job-on-exit} says.
 */
public final class SnapshotSupervisorMain {
    private SnapshotSupervisorMain() {}

    public static void main(String[] arguments) throws InterruptedException {
        SupervisorLoop loop = SupervisorLoop.of(JobSettings.parse(arguments));
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(loop, main), "supervisor-end"));
        loop.run();
    }

    private static void end(SupervisorLoop loop, Thread main) {
        loop.stop();
        main.interrupt();
        try {
            main.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
