package io.millrace.gateway.profile;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import javax.management.JMException;
import javax.management.ObjectName;
import jdk.jfr.Recording;

/*
 * JFR writes chunks of one megabyte below a directory of ours and deletes the oldest; a profile reads only those that reach
 * into its seconds. JFR deletes its directory when the process ends in order. Only JFR's command interface can be told
 * where that directory is and how large a chunk is, and only before the first recording of the process.
 */
/** JFR's recording of this process, always on and bounded. Threads: any. */
final class FlightRecording implements AutoCloseable {
    static final String EXECUTION_SAMPLE = "jdk.ExecutionSample";
    static final String NATIVE_SAMPLE = "jdk.NativeMethodSample";
    static final String ALLOCATION_SAMPLE = "jdk.ObjectAllocationSample";

    /** Beyond the longest profile, so that its first second is still there when it is made. */
    private static final Duration AGE_RESERVE = Duration.ofSeconds(30);

    private static final String ALLOCATIONS_PER_SECOND = "150/s";

    private final Recording recording;

    private FlightRecording(Recording recording) {
        this.recording = recording;
    }

    /**
     * Begins to record.
     *
     * @throws IOException if JFR cannot use the directory
     */
    static FlightRecording start(ProfileConfig config) throws IOException {
        configure(config.directory());
        Recording recording = new Recording();
        try {
            recording.setName("continuous profile");
            recording.setToDisk(true);
            recording.setMaxAge(Duration.ofSeconds(ProfileConfig.SECONDS_MAX).plus(AGE_RESERVE));
            recording.setMaxSize(config.diskBytes());
            recording.enable(EXECUTION_SAMPLE).withPeriod(config.period());
            recording.enable(NATIVE_SAMPLE).withPeriod(config.period());
            recording.enable(ALLOCATION_SAMPLE).with("throttle", ALLOCATIONS_PER_SECOND);
            recording.start();
            return new FlightRecording(recording);
        } catch (RuntimeException | Error e) {
            recording.close();
            throw e;
        }
    }

    private static void configure(Path directory) throws IOException {
        String[] settings = {"repositorypath=\"" + directory + "\"", "maxchunksize=1M", "stackdepth=128"};
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
    Instant start() {
        return recording.getStartTime();
    }

    /**
     * Writes what happened since a time, and some of what happened before.
     *
     * @param file is replaced
     */
    void copy(Instant since, Path file) throws IOException {
        try (Recording copy = recording.copy(true);
                InputStream in = copy.getStream(since, null)) {
            if (in == null) {
                throw new IOException("recording has nothing yet");
            }
            Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    @Override
    public void close() {
        recording.close();
    }
}
