package io.millrace.region.bench;

import io.millrace.contract.layout.RequestKind;
import io.millrace.contract.layout.SlotLayout;
import io.millrace.region.Region;
import io.millrace.region.RegionConfig;
import io.millrace.region.TestingBackend;
import io.millrace.region.TestingDirectory;
import io.millrace.region.TestingDispatcher;
import java.io.IOException;
import java.time.Duration;
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

/** Requests of 64 bytes: the round trip between a sleeping backend and a sleeping gateway. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@SuppressWarnings("NullAway.Init")
public class BridgeBenchmark {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** Requests in flight. */
    @Param({"1", "32"})
    public int depth;

    private final byte[] payload = new byte[64];
    private final int[] claimed = new int[SlotLayout.SLOT_COUNT];
    private TestingDirectory directory;
    private Region region;
    private TestingDispatcher dispatcher;
    private TestingBackend backend;

    @Setup
    public void start() throws IOException {
        directory = TestingDirectory.create();
        region = Region.create(RegionConfig.of(directory.path()));
        dispatcher = new TestingDispatcher(region, 0);
        region.serve();
        backend = TestingBackend.attach(directory.path());
    }

    @TearDown
    public void stop() throws IOException {
        backend.close();
        dispatcher.close();
        region.close();
        directory.close();
    }

    /** Claim, submit, sleep at the doorbell, take, copy, finish, ring, wake, free. */
    @Benchmark
    public void echoOfSleepersAtTheDoorbell() throws IOException {
        submitAll();
        for (int i = 0; i < depth; i++) {
            backend.awaitDone(claimed[i], TIMEOUT);
            backend.free(claimed[i]);
        }
    }

    /** The same, but for sleeping at the slot's line. */
    @Benchmark
    public void echoOfSleepersAtTheLine() throws IOException {
        submitAll();
        for (int i = 0; i < depth; i++) {
            backend.awaitDoneAtLine(claimed[i], TIMEOUT);
            backend.free(claimed[i]);
        }
    }

    private void submitAll() {
        for (int i = 0; i < depth; i++) {
            claimed[i] = backend.claim();
            backend.submit(claimed[i], RequestKind.ECHO.code(), 0, payload, TIMEOUT);
        }
    }
}
