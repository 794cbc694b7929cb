package io.millrace.gateway.profile;

import io.millrace.gateway.profile.NativeTurns.Look;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;

/** Folds the samples of a recording since a time. Threads: one. */
final class RecordingReader {
    /** Native methods in which a thread waits and uses no processor. */
    private static final Set<String> WAITING = Set.of(
            "sun.nio.ch.EPoll.wait",
            "sun.nio.ch.Net.accept",
            "sun.nio.ch.Net.poll",
            "sun.nio.ch.UnixDomainSockets.accept0",
            "sun.nio.ch.SocketDispatcher.read0",
            "sun.nio.fs.LinuxWatchService.poll",
            "java.lang.ProcessHandleImpl.waitForProcessExit0",
            "java.io.FileInputStream.readBytes");

    private final Path file;
    private final Instant since;
    private final FlameTree tree;

    RecordingReader(Path file, Instant since, int nodesMax) {
        this.file = file;
        this.since = since;
        this.tree = new FlameTree(nodesMax);
    }

    private interface EventUse {
        void accept(RecordedEvent event);
    }

    private void read(EventUse use) throws IOException {
        try (RecordingFile recording = new RecordingFile(file)) {
            while (recording.hasMoreEvents()) {
                RecordedEvent event = recording.readEvent();
                if (event.getStartTime().isAfter(since)) {
                    use.accept(event);
                }
            }
        }
    }

    /**
     * Processor time by thread and method; microseconds.
     *
     * @param period of the samples
     */
    FlameTree cpu(Duration period) throws IOException {
        long periodMicros = period.toNanos() / 1_000;
        List<RecordedEvent> nativeSamples = new ArrayList<>();
        read(event -> {
            switch (event.getEventType().getName()) {
                case FlightRecording.EXECUTION_SAMPLE -> tree.add(stack(event, "sampledThread"), periodMicros);
                case FlightRecording.NATIVE_SAMPLE -> nativeSamples.add(event);
                default -> {}
            }
        });
        nativeSamples.sort(Comparator.comparing(RecordedEvent::getStartTime));
        int[] weights = NativeTurns.weights(
                nativeSamples.stream().map(RecordingReader::look).toList());
        for (int index = 0; index < weights.length; index++) {
            RecordedEvent sample = nativeSamples.get(index);
            if (!waits(sample.getStackTrace())) {
                tree.add(stack(sample, "sampledThread"), weights[index] * periodMicros);
            }
        }
        return tree;
    }

    private static Look look(RecordedEvent event) {
        RecordedThread thread = event.getThread("sampledThread");
        return new Look(event.getStartTime(), thread == null ? -1 : thread.getJavaThreadId());
    }

    private static boolean waits(@Nullable RecordedStackTrace trace) {
        if (trace == null || trace.getFrames().isEmpty()) {
            return true;
        }
        RecordedFrame innermost = trace.getFrames().get(0);
        return WAITING.contains(innermost.getMethod().getType().getName() + "."
                + innermost.getMethod().getName());
    }

    /** Allocated memory by thread, method and class; bytes. */
    FlameTree heap() throws IOException {
        read(event -> {
            if (event.getEventType().getName().equals(FlightRecording.ALLOCATION_SAMPLE)) {
                List<Frame> frames = stack(event, "eventThread");
                frames.add(JavaFrames.type(event.getClass("objectClass")));
                tree.add(frames, event.getLong("weight"));
            }
        });
        return tree;
    }

    private static List<Frame> stack(RecordedEvent event, String threadField) {
        return JavaFrames.stack(event.getThread(threadField), event.getStackTrace());
    }
}
