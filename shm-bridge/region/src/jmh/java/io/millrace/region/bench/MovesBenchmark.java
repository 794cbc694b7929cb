package io.millrace.region.bench;

import io.millrace.contract.layout.SlotLayout;
import io.millrace.region.Region;
import io.millrace.region.RegionConfig;
import io.millrace.region.SlotTable;
import io.millrace.region.TestingBackend;
import io.millrace.region.TestingDirectory;
import io.millrace.region.TestingDispatcher;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** The moves of a slot from claim to free on one thread: what they cost without waking anybody. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@SuppressWarnings("NullAway.Init")
public class MovesBenchmark {
    /** Requests in flight. */
    @Param({"1", "32"})
    public int depth;

    private final int[] claimed = new int[SlotLayout.SLOT_COUNT];
    private final int[] taken = new int[SlotLayout.SLOT_COUNT];
    private final long[] words = new long[SlotLayout.SLOT_COUNT];
    private TestingDirectory directory;
    private Region region;
    private TestingBackend backend;

    @Setup
    @SuppressWarnings("try") // who greets is not spoken to
    public void start() throws IOException {
        directory = TestingDirectory.create();
        region = Region.create(RegionConfig.of(directory.path()));
        // For the hello only: afterwards it would take slots from under the benchmark.
        try (TestingDispatcher greeter = new TestingDispatcher(region, 0)) {
            region.serve();
            backend = TestingBackend.attach(directory.path());
        }
    }

    @TearDown
    public void stop() throws IOException {
        backend.close();
        region.close();
        directory.close();
    }

    @Benchmark
    public int movesAlone() {
        SlotTable slots = region.slots();
        for (int i = 0; i < depth; i++) {
            claimed[i] = backend.claim();
            backend.submitQuietly(claimed[i]);
        }
        int count = slots.takeReady(taken, words);
        for (int i = 0; i < count; i++) {
            slots.finish(taken[i], words[i], 0, 0, 0);
            backend.free(taken[i]);
        }
        return count;
    }
}
