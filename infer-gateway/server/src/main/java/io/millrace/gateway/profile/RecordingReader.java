package io.millrace.gateway.profile;

import io.millrace.gateway.profile.NativeTurns.Look;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
    private final Map<Frame, Frame> shared = new HashMap<>();

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
        List<NativeSample> nativeSamples = new ArrayList<>();
        read(event -> {
            switch (event.getEventType().getName()) {
                case FlightRecording.EXECUTION_SAMPLE -> tree.add(stack(event, "sampledThread"), periodMicros);
                case FlightRecording.NATIVE_SAMPLE -> nativeSamples.add(nativeSample(event));
                default -> {}
            }
        });
        nativeSamples.sort(Comparator.comparing(sample -> sample.look().time()));
        int[] weights = NativeTurns.weights(
                nativeSamples.stream().map(NativeSample::look).toList());
        for (int index = 0; index < weights.length; index++) {
            List<Frame> frames = nativeSamples.get(index).frames();
            if (!frames.isEmpty()) {
                tree.add(frames, weights[index] * periodMicros);
            }
        }
        return tree;
    }

    /**
     * What must be kept until all have been read: the event itself would keep the parsed chunk that it is from.
     *
     * @param frames empty for a thread that waits
     */
    private record NativeSample(Look look, List<Frame> frames) {}

    private NativeSample nativeSample(RecordedEvent event) {
        RecordedThread thread = event.getThread("sampledThread");
        Look look = new Look(event.getStartTime(), thread == null ? -1 : thread.getJavaThreadId());
        if (waits(event.getStackTrace())) {
            return new NativeSample(look, List.of());
        }
        List<Frame> frames = stack(event, "sampledThread");
        frames.replaceAll(frame -> Objects.requireNonNullElse(shared.putIfAbsent(frame, frame), frame));
        return new NativeSample(look, List.copyOf(frames));
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
