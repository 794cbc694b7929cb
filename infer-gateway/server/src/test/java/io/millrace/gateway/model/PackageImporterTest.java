package io.millrace.gateway.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.contract.ContractException;
import io.millrace.contract.Task;
import io.millrace.contract.envelope.ImportAnswer;
import io.millrace.contract.envelope.ImportRequest;
import io.millrace.engine.TestingGraphs;
import io.millrace.gateway.core.Importer;
import io.millrace.store.ModelStore;
import io.millrace.store.StoreConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("NullAway.Init") // JUnit calls the set-up
class PackageImporterTest {
    private static final long BUDGET_BYTES = 1 << 20;

    @TempDir
    Path directory;

    private final List<String> ends = Collections.synchronizedList(new ArrayList<>());
    private ModelStore store;
    private PackageImporter importer;

    private final Importer.Waiter waiter = new Importer.Waiter() {
        @Override
        public void imported(ImportAnswer answer) {
            ends.add("imported " + answer.uri());
        }

        @Override
        public void failed(ContractException failure) {
            ends.add(failure.code() + " " + failure.getMessage());
        }
    };

    @BeforeEach
    void open() throws IOException {
        store = new ModelStore(
                new StoreConfig("fs", Map.of("root", directory.resolve("store").toString())));
        Files.createDirectories(directory.resolve("in"));
        Files.write(directory.resolve("in/model.onnx"), TestingGraphs.linear(2).bytes());
        importer = new PackageImporter(store, directory.resolve("cache"), directory.resolve("in"), BUDGET_BYTES);
    }

    @AfterEach
    void close() {
        importer.close();
        store.close();
    }

    private byte[] request(String format) {
        return new ImportRequest(
                        "1",
                        "d",
                        1,
                        "p",
                        Task.REGRESSION,
                        directory.resolve("in/model.onnx").toUri().toString(),
                        format,
                        null,
                        null,
                        List.of(),
                        List.of(),
                        null,
                        null,
                        "t")
                .toJson();
    }

    private static long inSeconds(long seconds) {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    }

    private void awaitEnds(int count) {
        await().atMost(Duration.ofSeconds(60)).until(() -> ends.size() == count);
    }

    @Test
    void refusesWhatNobodyWaitsForAndWhatIsLate() {
        importer.take(request("onnx"), () -> false, inSeconds(60), waiter);
        awaitEnds(1);
        importer.take(request("onnx"), () -> true, System.nanoTime() - 1_000_000_000, waiter);
        awaitEnds(2);
        importer.take(request("pickle"), () -> true, inSeconds(60), waiter);
        awaitEnds(3);
        assertThat(ends.get(0)).isEqualTo("CANCELLED import is cancelled");
        assertThat(ends.get(1)).startsWith("DEADLINE_EXCEEDED import takes longer than its deadline: lateNanos=1");
        assertThat(ends.get(2)).isEqualTo("UNSUPPORTED_KIND format of an imported model must be onnx: format=pickle");
    }

    @Test
    void aLineThatIsFullAndAClosedImporterRefuseAtOnce() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        importer.take(
                request("onnx"),
                () -> {
                    entered.countDown();
                    try {
                        gate.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return false;
                },
                inSeconds(60),
                waiter);
        entered.await();
        for (int waiting = 0; waiting < 16; waiting++) {
            importer.take(request("onnx"), () -> true, inSeconds(60), waiter);
        }
        assertThat(ends).isEmpty();
        importer.take(request("onnx"), () -> true, inSeconds(60), waiter);
        assertThat(ends).containsExactly("QUEUE_FULL too many models are being imported: waitingImports=16, limit=16");
        importer.close();
        assertThat(ends).hasSize(18);
        assertThat(ends.subList(1, 18)).containsOnly("SHUTTING_DOWN gateway is shutting down");
        importer.take(request("onnx"), () -> true, inSeconds(60), waiter);
        assertThat(ends).last().isEqualTo("SHUTTING_DOWN gateway is shutting down");
    }
}
