package io.millrace.gateway;

import io.millrace.region.Region;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Renews the region's heartbeat while the gateway is well, and looks for slots of dead owners. Threads: its own. */
final class Heartbeat implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Heartbeat.class);

    private final Region region;
    private final BooleanSupplier healthy;
    private final Runnable chore;
    private final long intervalMillis;
    private final Thread thread;
    private boolean stopping;

    /**
     * Begins to beat.
     *
     * @param healthy when it says no, the heartbeat ages and backends stop waiting
     * @param chore short work to do now and then
     */
    Heartbeat(Region region, Duration interval, BooleanSupplier healthy, Runnable chore) {
        this.region = region;
        this.healthy = healthy;
        this.chore = chore;
        this.intervalMillis = interval.toMillis();
        this.thread = new Thread(this::run, "heartbeat");
        thread.setDaemon(true);
        thread.start();
    }

    private synchronized void run() {
        try {
            while (!stopping) {
                if (healthy.getAsBoolean()) {
                    region.beat();
                }
                quietly("slots of dead owners cannot be looked for", region.sweeper()::sweep);
                quietly("use of the models cannot be recorded", chore);
                wait(intervalMillis);
            }
        } catch (InterruptedException e) {
            log.warn("heartbeat is interrupted");
        }
    }

    /** What fails here must not end the heartbeat: that would look like a dead gateway. */
    private static void quietly(String failure, Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            log.error(failure, e);
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            stopping = true;
            notifyAll();
        }
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
