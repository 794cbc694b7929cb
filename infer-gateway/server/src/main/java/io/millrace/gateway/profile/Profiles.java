package io.millrace.gateway.profile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Makes profiles of this process. Threads: one at a time. */
final class Profiles implements AutoCloseable {
    /** About 150 bytes each. */
    private static final int NODES_MAX = 50_000;

    private final ProfileConfig config;
    private final String version;
    private final ProfileDirectory directory;
    private final FlightRecording recording;

    private Profiles(ProfileConfig config, String version, ProfileDirectory directory, FlightRecording recording) {
        this.config = config;
        this.version = version;
        this.directory = directory;
        this.recording = recording;
    }

    /**
     * Begins to record.
     *
     * @param version of the gateway
     * @throws IOException if the directory cannot be used
     */
    static Profiles start(ProfileConfig config, String version) throws IOException {
        ProfileDirectory directory = ProfileDirectory.open(config.directory());
        try {
            return new Profiles(config, version, directory, FlightRecording.start(config, directory.path()));
        } catch (IOException | RuntimeException | Error e) {
            directory.close();
            throw e;
        }
    }

    /** A folded profile and what a page says of it. */
    record Profile(FlameTree tree, FlamePage.Unit unit, FlamePage.Text text) {}

    Profile profile(ProfileQuery query) throws IOException {
        return switch (query.kind()) {
            case CPU -> cpu(query);
            case HEAP -> heap(query);
            case NATIVE -> nativeMemory(query);
        };
    }

    private Profile cpu(ProfileQuery query) throws IOException {
        Instant now = Instant.now();
        Instant since = since(query, now);
        FlameTree tree = read(since, file -> new RecordingReader(file, since, NODES_MAX).cpu(config.period()));
        String explanation =
                "Width is processor time of Java threads, by thread and caller. Each time up to five threads that"
                        + " run Java code are looked at, so where more run at once each is wider than shown; and one in native"
                        + " code, in turn, so their share is an estimate. What waits, and the threads of the JVM itself, are not"
                        + " shown.";
        return profile(
                query,
                tree,
                FlamePage.Unit.MICROSECONDS,
                "Processor time",
                explanation,
                seconds(since, now),
                samples(tree) + ", taken every " + config.period().toMillis() + " ms");
    }

    private Profile heap(ProfileQuery query) throws IOException {
        Instant now = Instant.now();
        Instant since = since(query, now);
        FlameTree tree = read(since, file -> new RecordingReader(file, since, NODES_MAX).heap());
        String explanation =
                "Width is memory that was allocated on the Java heap, by thread, caller and class, whether it is"
                        + " still in use or not. Each sample stands for what its thread allocated since the one before.";
        return profile(
                query,
                tree,
                FlamePage.Unit.BYTES,
                "Java heap allocation",
                explanation,
                seconds(since, now),
                samples(tree));
    }

    private Profile nativeMemory(ProfileQuery query) throws IOException {
        NativeMemory memory = NativeMemory.ofThisProcess();
        FlameTree tree = memory.inUse(directory, NODES_MAX);
        String explanation =
                "Width is native memory in use now, by the library that asked for it, and caller: models and"
                        + " buffers of XGBoost and ONNX, and the JVM's own; not the Java heap. It is estimated from a sample of"
                        + " the allocations since the start, so seconds do not count. Functions that a library does not export are"
                        + " shown as the library.";
        return profile(
                query,
                tree,
                FlamePage.Unit.BYTES,
                "Native memory in use",
                explanation,
                "at " + Instant.now().truncatedTo(ChronoUnit.SECONDS),
                String.format(
                        Locale.ROOT,
                        "%,d places sampled, %,.1f MB in use by jemalloc's own count",
                        tree.sampleCount(),
                        memory.allocatedBytes() / 1e6));
    }

    private Profile profile(
            ProfileQuery query,
            FlameTree tree,
            FlamePage.Unit unit,
            String title,
            String explanation,
            String when,
            String samples) {
        List<String> facts = new ArrayList<>(List.of(
                when,
                samples,
                "Millrace gateway " + version + ", pid "
                        + ProcessHandle.current().pid()));
        return new Profile(
                tree, unit, new FlamePage.Text(query.kind().text(), query.seconds(), title, explanation, facts));
    }

    private static String seconds(Instant since, Instant now) {
        return Math.max(1, Duration.between(since, now).toSeconds()) + " s until "
                + now.truncatedTo(ChronoUnit.SECONDS);
    }

    private static String samples(FlameTree tree) {
        return String.format(Locale.ROOT, "%,d samples", tree.sampleCount());
    }

    private Instant since(ProfileQuery query, Instant now) {
        Instant since = now.minusSeconds(query.seconds());
        return since.isBefore(recording.start()) ? recording.start() : since;
    }

    private interface FileUse {
        FlameTree accept(Path file) throws IOException;
    }

    private FlameTree read(Instant since, FileUse use) throws IOException {
        Path file = recording(since);
        try {
            return use.accept(file);
        } finally {
            ProfileDirectory.delete(file);
        }
    }

    /** The recording of the last seconds, and some more; its file has no name any more. */
    Answer recording(ProfileQuery query) throws IOException {
        Path file = recording(Instant.now().minusSeconds(query.seconds()));
        try {
            return Answer.recording(Files.newInputStream(file), Files.size(file));
        } finally {
            ProfileDirectory.delete(file);
        }
    }

    private Path recording(Instant since) throws IOException {
        Path file = directory.file(".jfr");
        try {
            recording.copy(since, file);
        } catch (IOException | RuntimeException | Error e) {
            ProfileDirectory.delete(file);
            throw e;
        }
        return file;
    }

    @Override
    public void close() {
        recording.close();
        directory.close();
    }
}
