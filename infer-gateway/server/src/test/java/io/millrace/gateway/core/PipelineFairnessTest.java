package io.millrace.gateway.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.envelope.RequestLimits;
import io.millrace.contract.layout.RequestKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whose batch is next: batches have one row each here, and take fake time. */
class PipelineFairnessTest {
    private static final long MILLI = 1_000_000;
    private static final long DEADLINE = Long.MAX_VALUE / 2;

    private final AtomicLong clock = new AtomicLong();
    private final Map<Long, ServedModel> resident = new HashMap<>();
    private final List<String> order = Collections.synchronizedList(new ArrayList<>());
    private @Nullable Pipeline pipeline;

    private final Models models = new Models() {
        @Override
        public synchronized @Nullable ServedModel acquire(long modelKey) {
            ServedModel model = resident.get(modelKey);
            return model != null && model.acquire() ? model : null;
        }

        @Override
        public void load(long modelKey, ModelReference reference, Waiter waiter) {
            throw new IllegalStateException("nothing is loaded here");
        }

        @Override
        public int residentCount() {
            return resident.size();
        }
    };

    private Pipeline pipeline(int workerCount, int batchRowsMax, long mergeWindowNanos) {
        pipeline = new Pipeline(
                new PipelineConfig(workerCount, batchRowsMax, 0, mergeWindowNanos, RequestLimits.NONE, false, 1),
                models,
                Importer.NONE,
                Observer.NONE,
                kind -> "fine",
                null,
                clock::get);
        return pipeline;
    }

    /** A model whose batches of one row take fake time, and tell that they run. */
    private TestingScorer model(long key, String name, long takesMillis) {
        TestingScorer scorer = new TestingScorer();
        ServedModel model = TestingServedModels.regression(key, scorer, 10, 10_000);
        if (takesMillis > 0) {
            model.cost().record(1, takesMillis * MILLI);
        }
        scorer.onScore(() -> {
            order.add(name);
            clock.addAndGet(takesMillis * MILLI);
        });
        resident.put(key, model);
        return scorer;
    }

    private TestingRequest predict(long key) {
        return new TestingRequest(RequestKind.PREDICT, key, DEADLINE, clock.get(), 1);
    }

    /** Keeps a worker busy until the returned latch opens. */
    private CountDownLatch holdWorker(Pipeline target) throws InterruptedException {
        TestingScorer blocker = model(99, "blocker", 0);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = blocker.hold(entered);
        target.submit(predict(99));
        entered.await();
        order.clear();
        return gate;
    }

    private static void awaitAll(List<TestingRequest> requests) throws InterruptedException {
        for (TestingRequest request : requests) {
            assertThat(request.await()).isEqualTo(ErrorCode.OK);
        }
    }

    @AfterEach
    void everyRequestEnded() {
        if (pipeline != null) {
            assertThat(pipeline.awaitIdle(TimeUnit.SECONDS.toNanos(30))).isTrue();
            pipeline.close();
        }
    }

    @Test
    void modelsShareAWorkerEvenlyInTime() throws InterruptedException {
        Pipeline target = pipeline(1, 1, 0);
        model(1, "slow", 4);
        model(2, "fast", 1);
        CountDownLatch gate = holdWorker(target);
        List<TestingRequest> requests = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            requests.add(predict(1));
            requests.add(predict(2));
        }
        requests.forEach(target::submit);
        gate.countDown();
        awaitAll(requests);
        int slowMillis = 0;
        int fastMillis = 0;
        for (String name : order.subList(0, 50)) {
            slowMillis += name.equals("slow") ? 4 : 0;
            fastMillis += name.equals("fast") ? 1 : 0;
            assertThat(Math.abs(slowMillis - fastMillis)).as("after %s", order).isLessThanOrEqualTo(5);
        }
        assertThat(order).hasSize(80);
    }

    @Test
    void aModelWhoseCostIsNotKnownPaysWhatItTook() throws InterruptedException {
        Pipeline target = pipeline(1, 1, 0);
        TestingScorer unknown = model(1, "unknown", 0);
        unknown.onScore(() -> {
            order.add("unknown");
            clock.addAndGet(8 * MILLI);
        });
        model(2, "fast", 1);
        CountDownLatch gate = holdWorker(target);
        List<TestingRequest> requests = new ArrayList<>(List.of(predict(1), predict(1)));
        for (int i = 0; i < 16; i++) {
            requests.add(predict(2));
        }
        requests.forEach(target::submit);
        gate.countDown();
        awaitAll(requests);
        int second = order.lastIndexOf("unknown");
        assertThat(second - order.indexOf("unknown")).as("%s", order).isBetween(8, 18);
    }

    @Test
    void longBatchesOfOneModelLeaveAWorker() throws InterruptedException {
        Pipeline target = pipeline(2, 1, 0);
        TestingScorer slow = model(1, "slow", 50);
        model(2, "fast", 1);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = slow.hold(entered);
        List<TestingRequest> slowRequests = List.of(predict(1), predict(1), predict(1));
        slowRequests.forEach(target::submit);
        entered.await();
        for (int i = 0; i < 20; i++) {
            TestingRequest fast = predict(2);
            target.submit(fast);
            assertThat(fast.await()).isEqualTo(ErrorCode.OK);
        }
        assertThat(Collections.frequency(order, "slow")).isEqualTo(1);
        gate.countDown();
        awaitAll(slowRequests);
    }

    @Test
    void shortBatchesOfOneModelTakeEveryWorker() throws InterruptedException {
        Pipeline target = pipeline(2, 1, 0);
        TestingScorer quick = model(1, "quick", 2);
        CountDownLatch entered = new CountDownLatch(2);
        CountDownLatch gate = quick.hold(entered);
        List<TestingRequest> requests = List.of(predict(1), predict(1));
        requests.forEach(target::submit);
        entered.await();
        gate.countDown();
        awaitAll(requests);
    }

    @Test
    void singleRequestsGoFirstAndEveryFourthPartOfTheTimeIsForLargeJobs() throws InterruptedException {
        Pipeline target = pipeline(1, 1, 0);
        TestingScorer scorer = model(1, "one", 1);
        CountDownLatch gate = holdWorker(target);
        List<TestingRequest> bulk = new ArrayList<>();
        List<TestingRequest> single = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            bulk.add(new TestingRequest(RequestKind.PREDICT, 1, DEADLINE, clock.get(), i).bulk());
            target.submit(bulk.get(i));
        }
        for (int i = 0; i < 24; i++) {
            single.add(predict(1));
            target.submit(single.get(i));
        }
        List<Integer> bulkDone = Collections.synchronizedList(new ArrayList<>());
        scorer.onScore(() -> {
            clock.addAndGet(MILLI);
            bulkDone.add((int) bulk.stream().filter(TestingRequest::isDone).count());
        });
        gate.countDown();
        awaitAll(single);
        awaitAll(bulk);
        assertThat(bulkDone.get(3))
                .as("three single ones went first: %s", bulkDone)
                .isZero();
        for (int batch = 4; batch < 32; batch++) {
            assertThat(bulkDone.get(batch)).as("a quarter each: %s", bulkDone).isBetween(batch / 4 - 1, batch / 4);
        }
    }

    @Test
    void aMergeWindowHoldsRequestsBackWhileABatchOfTheirModelRuns() throws InterruptedException {
        holdsBack(pipeline(2, 10, MILLI), RequestLimits.NONE);
    }

    @Test
    void theMergeWindowOfAProjectIsItsOwn() throws InterruptedException {
        holdsBack(pipeline(2, 10, 0), new RequestLimits(0, 0, 0, false, 1_000));
    }

    @Test
    void aProjectMayDoWithoutTheMergeWindowOfTheGateway() throws InterruptedException {
        Pipeline target = pipeline(2, 10, MILLI);
        TestingScorer model = model(1, "impatient", 0);
        CountDownLatch entered = new CountDownLatch(2);
        CountDownLatch gate = model.hold(entered);
        RequestLimits impatient = new RequestLimits(0, 0, 0, false, 0);
        List<TestingRequest> requests = List.of(predict(1, impatient), predict(1, impatient));
        target.submit(requests.get(0));
        while (entered.getCount() == 2) {
            Thread.onSpinWait();
        }
        // It runs beside the first, though the clock stands still.
        target.submit(requests.get(1));
        entered.await();
        gate.countDown();
        awaitAll(requests);
    }

    private TestingRequest predict(long key, RequestLimits limits) {
        ModelReference reference = new ModelReference(key, "p", "d", "store:d/1/1-1", "ab".repeat(32), 10, limits);
        return predict(key).of(1, limits).withReference(reference);
    }

    private void holdsBack(Pipeline target, RequestLimits limits) throws InterruptedException {
        TestingScorer merging = model(1, "merging", 0);
        model(2, "other", 0);
        CountDownLatch entered = new CountDownLatch(2);
        CountDownLatch gate = merging.hold(entered);
        List<TestingRequest> requests = List.of(predict(1, limits), predict(1, limits), predict(1, limits));
        target.submit(requests.get(0));
        while (entered.getCount() == 2) {
            Thread.onSpinWait();
        }
        target.submit(requests.get(1));
        TestingRequest other = predict(2);
        target.submit(other);
        assertThat(other.await()).as("the second worker is free").isEqualTo(ErrorCode.OK);
        target.submit(requests.get(2));
        assertThat(Collections.frequency(order, "merging")).isEqualTo(1);
        clock.addAndGet(MILLI);
        entered.await();
        gate.countDown();
        awaitAll(requests);
        assertThat(merging.batches()).containsExactlyInAnyOrder(1, 2);
    }
}
