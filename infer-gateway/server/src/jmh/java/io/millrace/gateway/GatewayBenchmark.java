package io.millrace.gateway;

import io.millrace.contract.Column;
import io.millrace.contract.envelope.DescriptorParser;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.envelope.RowEncoder;
import io.millrace.contract.layout.RequestKind;
import io.millrace.engine.TestingModels;
import io.millrace.engine.TestingRow;
import io.millrace.region.TestingBackend;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
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

/**
 * Predictions through the whole gateway: slots, envelope, preprocessing, 100 trees, answer, with a backend in Java that
 * sleeps until it is rung. {@code depth} requests of one row are in flight at a time; the time is of all of them.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@SuppressWarnings("NullAway.Init")
public class GatewayBenchmark {
    @Param({"1", "32"})
    public int depth;

    private final int[] claimed = new int[512];
    private TestingGateway testing;
    private TestingClient client;
    private ModelReference reference;
    private byte[] request;

    @Setup
    public void start() throws IOException {
        testing = new TestingGateway(Map.of());
        TestingModels.TestingPackage model =
                TestingModels.write(testing.freshDirectory(), 1, List.of("no", "yes"), 100);
        reference = testing.publish(model, 1);
        client = testing.client();
        List<Column> columns = model.fitted().inputs().columns();
        List<TestingRow> rows = model.testRows().subList(0, 1);
        // Once with everything, so that model and descriptor are known.
        client.ask(RequestKind.PREDICT, reference, columns, rows);
        ByteBuffer encoded = new RowEncoder(columns).add(rows.get(0)).rows();
        request = TestingClient.request(
                1, DescriptorParser.hash(DescriptorParser.encode(columns)), new byte[0], new byte[0], encoded);
    }

    @TearDown
    public void stop() throws IOException {
        client.close();
        testing.close();
    }

    @Benchmark
    public int predict() throws IOException {
        TestingBackend backend = client.backend();
        for (int i = 0; i < depth; i++) {
            claimed[i] = backend.claim();
            backend.submit(
                    claimed[i], RequestKind.PREDICT.code(), reference.modelKey(), request, TestingClient.TIMEOUT);
        }
        int failed = 0;
        for (int i = 0; i < depth; i++) {
            backend.awaitDone(claimed[i], TestingClient.TIMEOUT);
            failed |= backend.status(claimed[i]);
            backend.free(claimed[i]);
        }
        if (failed != 0) {
            throw new IllegalStateException("prediction failed: status=" + failed);
        }
        return failed;
    }
}
