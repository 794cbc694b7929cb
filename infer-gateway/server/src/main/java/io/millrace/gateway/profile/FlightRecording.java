package io.millrace.gateway.profile;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.management.JMException;
import javax.management.ObjectName;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * A JVM whose flight recorder finds the disk full aborts. A recording to disk writes all the time, so this one is in memory,
 * in JFR's bounded buffers, and goes to disk in moments of our choice: when a profile is made, and every two minutes, before
 * the buffers wrap. Each time the disk is first seen to have room for much more than that; where it has not, what was
 * recorded is dropped. JFR keeps what went to disk as long as a recording holds it: a snapshot holds all that the snapshot
 * before it held, so the last one is the history, and its bounds delete the oldest.
 *
 * Only JFR's command interface can be told where its directory is. It answers a directory that it cannot use with a text,
 * and goes to another one.
 */
/** JFR's recording of this process, always on and bounded. Threads: any. */
final class FlightRecording implements AutoCloseable {
    static final String EXECUTION_SAMPLE = "jdk.ExecutionSample";
    static final String NATIVE_SAMPLE = "jdk.NativeMethodSample";
    static final String ALLOCATION_SAMPLE = "jdk.ObjectAllocationSample";

    private static final Logger log = LoggerFactory.getLogger(FlightRecording.class);

    /** Beyond the longest profile, so that its first second is still there when it is made. */
    private static final Duration AGE_MAX = Duration.ofSeconds(ProfileConfig.SECONDS_MAX + 30);

    /** At the shortest period some 2 MB are recorded in it; JFR's buffers take 10. */
    private static final Duration STORE_PERIOD = Duration.ofMinutes(2);

    private static final String ALLOCATIONS_PER_SECOND = "150/s";

    /**
     * An event that is cheap and recorded once a second. Without any that recurs, JFR's thread for those looks a hundred times
     * a second whether one is due, which is half of what an idle gateway uses.
     */
    private static final String RECURRING = "jdk.JavaThreadStatistics";

    private static final Duration RECURRING_PERIOD = Duration.ofSeconds(1);

    private final ProfileConfig config;
    private final DiskRoom room;
    private final Path directory;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "profile-recording");
        thread.setDaemon(true);
        return thread;
    });
    private Recording recording;
    private @Nullable Recording stored;

    private FlightRecording(ProfileConfig config, Path directory) {
        this.config = config;
        this.directory = directory;
        this.room = new DiskRoom(directory, config.diskBytes());
        this.recording = record(config);
    }

    /**
     * Begins to record.
     *
     * @param directory that nobody else uses
     * @throws IOException if JFR cannot use the directory
     */
    static FlightRecording start(ProfileConfig config, Path directory) throws IOException {
        configure(directory);
        FlightRecording started = new FlightRecording(config, directory);
        try {
            if (started.room.isLow()) {
                log.warn("nothing can be profiled until there is room: {}", started.room.text());
            } else {
                started.store();
            }
        } catch (IOException | RuntimeException | Error e) {
            started.close();
            throw e;
        }
        long millis = STORE_PERIOD.toMillis();
        var unused = started.clock.scheduleWithFixedDelay(started::keep, millis, millis, TimeUnit.MILLISECONDS);
        return started;
    }

    private static Recording record(ProfileConfig config) {
        Recording recording = new Recording();
        try {
            recording.setName("continuous profile");
            recording.setToDisk(false);
            recording.enable(EXECUTION_SAMPLE).withPeriod(config.period());
            recording.enable(NATIVE_SAMPLE).withPeriod(config.period());
            recording.enable(ALLOCATION_SAMPLE).with("throttle", ALLOCATIONS_PER_SECOND);
            recording.enable(RECURRING).withPeriod(RECURRING_PERIOD);
            recording.start();
            return recording;
        } catch (RuntimeException | Error e) {
            recording.close();
            throw e;
        }
    }

    private static void configure(Path directory) throws IOException {
        String[] settings = {"repositorypath=\"" + directory + "\"", "stackdepth=128"};
        try {
            ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "jfrConfigure",
                            new Object[] {settings},
                            new String[] {String[].class.getName()});
        } catch (JMException | RuntimeException e) {
            throw new IOException("JFR cannot be configured: directory=" + directory + ", reason=" + e, e);
        }
    }

    /** When it began. */
    synchronized Instant start() {
        return recording.getStartTime();
    }

    /** Takes to disk what is in memory; one that finds no room begins anew, which also empties JFR's memory. */
    private synchronized void keep() {
        try {
            if (room.isLow()) {
                log.warn("what was recorded for profiles is dropped: {}", room.text());
                drop();
                recording = record(config);
            } else {
                store();
            }
        } catch (IOException | RuntimeException | LinkageError e) {
            log.warn("recording cannot be stored: directory={}", directory, e);
        }
    }

    /** There must be room: a full disk ends the process. */
    private synchronized void store() throws IOException {
        Recording all = FlightRecorder.getFlightRecorder().takeSnapshot();
        if (stored != null) {
            stored.close();
        }
        stored = all;
        all.setMaxAge(AGE_MAX);
        all.setMaxSize(config.diskBytes());
        try (var inner = Files.newDirectoryStream(directory, Files::isDirectory)) {
            if (!inner.iterator().hasNext()) {
                drop();
                throw new IOException("JFR does not use the directory that it was given: directory=" + directory);
            }
        }
    }

    /**
     * Writes what happened since a time, and some of what happened before.
     *
     * @param file that exists; is overwritten
     * @throws ProfileException if the disk is too full
     */
    synchronized void copy(Instant since, Path file) throws IOException {
        if (room.isLow()) {
            throw new ProfileException(ProfileException.UNAVAILABLE, room.text());
        }
        store();
        try (InputStream in = stored == null ? null : stored.getStream(since, null);
                OutputStream out = Files.newOutputStream(file)) {
            if (in == null) {
                throw new IOException("recording has nothing yet");
            }
            in.transferTo(out);
        }
    }

    private void drop() {
        if (stored != null) {
            stored.close();
            stored = null;
        }
        recording.close();
    }

    @Override
    public void close() {
        clock.shutdown();
        synchronized (this) {
            drop();
        }
    }
}
