package io.millrace.gateway.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ImportAnswer;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.layout.RequestKind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PipelineTest {
    private static final long KEY = 7;
    private static final long LATER = 1_000_000;
    private static final ModelReference REFERENCE =
            new ModelReference(1, "p", "d", "store:d/1/1-1", "ab".repeat(32), 10);

    private final AtomicLong clock = new AtomicLong();
    private final TestingModelsMap models = new TestingModelsMap();
    private final TestingScorer scorer = new TestingScorer();
    private final List<Importer.Waiter> imports = new ArrayList<>();
    private final TestingObserver observer = new TestingObserver();
    private @Nullable Pipeline pipeline;

    /** Models that are there from the start, and waiters that the test answers. */
    private static final class TestingModelsMap implements Models {
        private final Map<Long, ServedModel> resident = new HashMap<>();
        private final List<Waiter> waiters = new ArrayList<>();

        @Override
        public synchronized @Nullable ServedModel acquire(long modelKey) {
            ServedModel model = resident.get(modelKey);
            return model != null && model.acquire() ? model : null;
        }

        @Override
        public void load(long modelKey, ModelReference reference, Waiter waiter) {
            waiters.add(waiter);
        }

        @Override
        public int residentCount() {
            return resident.size();
        }
    }

    private void importing(byte[] document, BooleanSupplier wanted, long deadlineNanos, Importer.Waiter waiter) {
        assertThat(document).isEqualTo("payload".getBytes(StandardCharsets.UTF_8));
        assertThat(wanted.getAsBoolean()).isTrue();
        assertThat(deadlineNanos).isEqualTo(LATER);
        imports.add(waiter);
    }

    private Pipeline pipeline(int workerCount, int batchRowsMax, long inlineNanos) {
        pipeline = new Pipeline(
                new PipelineConfig(workerCount, batchRowsMax, inlineNanos),
                models,
                this::importing,
                observer,
                kind -> "fine",
                null,
                clock::get);
        return pipeline;
    }

    private ServedModel model(int queueRows) {
        ServedModel model = TestingServedModels.regression(KEY, scorer, 10, queueRows);
        models.resident.put(KEY, model);
        return model;
    }

    private TestingRequest predict(double... values) {
        return new TestingRequest(RequestKind.PREDICT, KEY, LATER, clock.get(), values);
    }

    @AfterEach
    void everyRequestEnded() {
        if (pipeline != null) {
            assertThat(pipeline.awaitIdle(TimeUnit.SECONDS.toNanos(30))).isTrue();
            assertThat(pipeline.pendingRows()).isZero();
            pipeline.close();
        }
    }

    @Test
    void answersInTheRowsOrder() throws InterruptedException {
        model(100);
        TestingRequest request = predict(3, 1, 2);
        pipeline(1, 10, 0).submit(request);
        assertThat(request.await()).isEqualTo(ErrorCode.OK);
        assertThat(request.answers()).containsExactly("3.0", "1.0", "2.0");
    }

    @Test
    void whatArrivesDuringABatchIsTheNextBatch() throws InterruptedException {
        model(100);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = scorer.hold(entered);
        Pipeline target = pipeline(1, 10, 0);
        TestingRequest first = predict(1);
        target.submit(first);
        entered.await();
        List<TestingRequest> others = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            others.add(predict(10 + i));
            target.submit(others.get(i));
        }
        assertThat(target.inFlight()).isEqualTo(6);
        assertThat(target.pendingRows()).isEqualTo(5);
        gate.countDown();
        for (int i = 0; i < 5; i++) {
            assertThat(others.get(i).await()).isEqualTo(ErrorCode.OK);
            assertThat(others.get(i).answers()).containsExactly(String.valueOf(10.0 + i));
        }
        assertThat(scorer.batches()).containsExactly(1, 5);
    }

    @Test
    void aBatchIsCountedInRowsAndALargeRequestIsItsOwn() throws InterruptedException {
        model(1000);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = scorer.hold(entered);
        Pipeline target = pipeline(1, 4, 0);
        List<TestingRequest> requests = List.of(
                predict(1), predict(1, 2), predict(1, 2), predict(1, 2, 3, 4, 5, 6, 7), predict(1), predict(1, 2, 3));
        target.submit(requests.get(0));
        entered.await();
        requests.subList(1, 6).forEach(target::submit);
        gate.countDown();
        for (TestingRequest request : requests) {
            assertThat(request.await()).isEqualTo(ErrorCode.OK);
        }
        assertThat(scorer.batches()).containsExactly(1, 4, 4, 3, 4);
    }

    @Test
    void aPoisonousRowCostsOnlyItself() throws InterruptedException {
        ServedModel model = model(100);
        TestingRequest clean = predict(1, 2);
        TestingRequest poisoned = predict(3, TestingScorer.POISON, 4);
        Pipeline target = pipeline(1, 100, LATER);
        Pipeline.Burst burst = target.burst();
        model.cost().record(1, 1);
        burst.submit(clean);
        burst.submit(poisoned);
        burst.run();
        assertThat(clean.await()).isEqualTo(ErrorCode.OK);
        assertThat(clean.answers()).containsExactly("1.0", "2.0");
        assertThat(poisoned.await()).isEqualTo(ErrorCode.OK);
        assertThat(poisoned.answers()).containsExactly("3.0", "SCORER_FAILED", "4.0");
    }

    @Test
    void aRequestLargerThanABlockIsAnsweredInTheRowsOrder() throws InterruptedException {
        ServedModel model = model(100);
        model.cost().record(1, 1);
        Pipeline target = pipeline(1, 2, 4);
        Pipeline.Burst burst = target.burst();
        TestingRequest rows = predict(1, 2, TestingScorer.POISON, 4, 5);
        burst.submit(rows);
        burst.run();
        assertThat(rows.await()).isEqualTo(ErrorCode.OK);
        assertThat(rows.answers()).containsExactly("1.0", "2.0", "SCORER_FAILED", "4.0", "5.0");
        TestingRequest features = new TestingRequest(RequestKind.PREPROCESS, KEY, LATER, 0, 1, 2, 3);
        target.submit(features);
        assertThat(features.await()).isEqualTo(ErrorCode.OK);
        assertThat(features.answers()).containsExactly("features 1.0", "features 2.0", "features 3.0");
        TestingRequest narrow = predict(1, 2, 3).withRoomFor(2);
        target.submit(narrow);
        assertThat(narrow.await()).isEqualTo(ErrorCode.PAYLOAD_TOO_LARGE);
        assertThat(rows.ends() + features.ends() + narrow.ends()).isEqualTo(3);
    }

    @Test
    void aLargeRequestIsNotTakenForAShortBatch() throws InterruptedException {
        ServedModel model = model(100);
        model.cost().record(1, 100);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = scorer.hold(entered);
        Pipeline.Burst burst = pipeline(1, 2, 300).burst();
        TestingRequest request = predict(1, 2, 3, 4, 5);
        burst.submit(request);
        burst.run();
        entered.await();
        assertThat(request.isDone()).as("a worker holds it").isFalse();
        gate.countDown();
        assertThat(request.await()).isEqualTo(ErrorCode.OK);
    }

    @Test
    void aScorerThatFailsABatchIsRenewedBeforeItsRowsAreTriedAgain() throws InterruptedException {
        model(100);
        scorer.breakUntilRenewed();
        TestingRequest request = predict(1, 2);
        Pipeline target = pipeline(1, 100, 0);
        target.submit(request);
        assertThat(request.await()).isEqualTo(ErrorCode.OK);
        assertThat(request.answers()).containsExactly("1.0", "2.0");
        assertThat(observer.renewals).hasValue(1);
        TestingRequest poisoned = predict(3, TestingScorer.POISON);
        target.submit(poisoned);
        assertThat(poisoned.await()).isEqualTo(ErrorCode.OK);
        assertThat(poisoned.answers()).containsExactly("3.0", "SCORER_FAILED");
        assertThat(observer.renewals).hasValue(1);
    }

    @Test
    void anImportIsAnsweredWhenItEnds() throws InterruptedException {
        Pipeline target = pipeline(1, 10, 0);
        TestingRequest finished = new TestingRequest(RequestKind.IMPORT, 0, LATER, 0);
        TestingRequest refused = new TestingRequest(RequestKind.IMPORT, 0, LATER, 0);
        target.submit(finished);
        target.submit(refused);
        assertThat(target.inFlight()).isEqualTo(2);
        ImportAnswer answer = new ImportAnswer(
                "store:d/1/import-1", "ab".repeat(32), 9, "onnx", "cd".repeat(32), List.of(), List.of());
        imports.get(0).imported(answer);
        imports.get(1).failed(new ContractException(ErrorCode.INVALID_VALUE, "file to import must be there"));
        assertThat(finished.await()).isEqualTo(ErrorCode.OK);
        assertThat(finished.answers()).containsExactly(new String(answer.toJson(), StandardCharsets.UTF_8));
        assertThat(refused.await()).isEqualTo(ErrorCode.INVALID_VALUE);
        assertThat(refused.message()).isEqualTo("file to import must be there");
    }

    @Test
    void aBlockIsBoundedInFloats() {
        assertThat(Batch.blockRows(512, 10, 1)).isEqualTo(512);
        assertThat(Batch.blockRows(512, Batch.FLOATS_MAX / 2, 1)).isEqualTo(2);
        assertThat(Batch.blockRows(512, 1, Batch.FLOATS_MAX / 3)).isEqualTo(3);
        assertThat(Batch.blockRows(1 << 20, Integer.MAX_VALUE, 1)).isEqualTo(1);
    }

    @Test
    void aWorkersOwnErrorIsThePipelinesFailure() throws Exception {
        model(100);
        Pipeline target = new Pipeline(
                new PipelineConfig(1, 10, 0), models, this::importing, Observer.NONE, kind -> "fine", null, clock::get);
        AssertionError error = new AssertionError("width");
        scorer.breakWidth(error);
        target.submit(predict(1));
        assertThat(target.failure().toCompletableFuture().get(30, TimeUnit.SECONDS))
                .isSameAs(error);
        target.close();
    }

    @Test
    void aFullQueueIsRefusedAtOnceWithItsLimit() throws InterruptedException {
        model(3);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = scorer.hold(entered);
        Pipeline target = pipeline(1, 10, 0);
        TestingRequest first = predict(1);
        target.submit(first);
        entered.await();
        TestingRequest fits = predict(1, 2);
        TestingRequest refused = predict(1, 2);
        target.submit(fits);
        target.submit(refused);
        assertThat(refused.isDone()).isTrue();
        assertThat(refused.await()).isEqualTo(ErrorCode.QUEUE_FULL);
        assertThat(refused.message())
                .isEqualTo("queue of the model is full: model=model-7, waitingRows=2, requestRows=2, limitRows=3");
        assertThat(refused.hint()).isEqualTo("Send fewer requests at once, or raise queue-rows in gateway.properties.");
        gate.countDown();
        assertThat(fits.await()).isEqualTo(ErrorCode.OK);
    }

    @Test
    void shortBatchesRunOnTheSubmittersThread() throws InterruptedException {
        ServedModel model = model(100);
        model.cost().record(1, 100);
        Pipeline.Burst burst = pipeline(1, 100, 1000).burst();
        TestingRequest request = predict(5);
        burst.submit(request);
        assertThat(request.isDone()).isFalse();
        burst.run();
        assertThat(request.isDone()).isTrue();
        assertThat(request.await()).isEqualTo(ErrorCode.OK);
    }

    @Test
    void aSlowModelDoesNotHoldTheSubmitter() throws InterruptedException {
        ServedModel model = model(100);
        model.cost().record(1, 5000);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = scorer.hold(entered);
        Pipeline.Burst burst = pipeline(1, 100, 1000).burst();
        TestingRequest request = predict(5);
        burst.submit(request);
        burst.run();
        entered.await();
        assertThat(request.isDone()).isFalse();
        gate.countDown();
        assertThat(request.await()).isEqualTo(ErrorCode.OK);
    }

    @Test
    void aRequestThatWaitedPastItsDeadlineIsToldSo() throws InterruptedException {
        model(100);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = scorer.hold(entered);
        Pipeline target = pipeline(1, 10, 0);
        target.submit(predict(1));
        entered.await();
        TestingRequest late = predict(2);
        TestingRequest cancelled = predict(3);
        target.submit(late);
        target.submit(cancelled);
        cancelled.cancel();
        clock.set(LATER + 5);
        gate.countDown();
        assertThat(late.await()).isEqualTo(ErrorCode.DEADLINE_EXCEEDED);
        assertThat(late.message()).isEqualTo("request waited longer than its deadline: lateNanos=5");
        assertThat(cancelled.await()).isEqualTo(ErrorCode.CANCELLED);
        TestingRequest tooLate = new TestingRequest(RequestKind.ECHO, 0, LATER, LATER + 1, 1);
        target.submit(tooLate);
        assertThat(tooLate.message()).isEqualTo("request came after its deadline: lateNanos=1");
        assertThat(scorer.batches()).containsExactly(1);
    }

    @Test
    void asksForWhatItDoesNotKnow() throws InterruptedException {
        Pipeline target = pipeline(1, 10, 0);
        TestingRequest unknownModel = predict(1);
        target.submit(unknownModel);
        assertThat(unknownModel.await()).isEqualTo(ErrorCode.NEED_MODEL);
        assertThat(unknownModel.message()).isEqualTo("model is not resident: modelKey=7");
        model(10);
        TestingRequest unknownColumns = predict(1).withoutSchema();
        target.submit(unknownColumns);
        assertThat(unknownColumns.await()).isEqualTo(ErrorCode.NEED_DESCRIPTOR);
    }

    @Test
    void aRequestThatBringsItsModelWaitsForTheLoad() throws InterruptedException {
        Pipeline target = pipeline(1, 10, 0);
        TestingRequest loaded = predict(1).withReference(REFERENCE);
        TestingRequest failed = predict(2).withReference(REFERENCE);
        target.submit(loaded);
        target.submit(failed);
        assertThat(loaded.isDone()).isFalse();
        ServedModel model = TestingServedModels.regression(KEY, scorer, 10, 10);
        models.waiters.get(0).loaded(model);
        models.waiters.get(1).failed(new ContractException(ErrorCode.STORE_UNAVAILABLE, "store is gone"));
        assertThat(loaded.await()).isEqualTo(ErrorCode.OK);
        assertThat(failed.await()).isEqualTo(ErrorCode.STORE_UNAVAILABLE);
        assertThat(failed.message()).isEqualTo("store is gone");
        assertThat(target.awaitIdle(TimeUnit.SECONDS.toNanos(30))).isTrue();
        assertThat(scorer.isClosed()).as("nobody holds the model any more").isTrue();
    }

    @Test
    void loadMustNameItsModelAndAnswersWhenItIsReady() throws InterruptedException {
        Pipeline target = pipeline(1, 10, 0);
        TestingRequest nameless = new TestingRequest(RequestKind.LOAD, KEY, LATER, 0);
        target.submit(nameless);
        assertThat(nameless.await()).isEqualTo(ErrorCode.INVALID_ENVELOPE);
        TestingRequest load = new TestingRequest(RequestKind.LOAD, KEY, LATER, 0).withReference(REFERENCE);
        target.submit(load);
        models.waiters.get(0).loaded(TestingServedModels.regression(KEY, scorer, 10, 10));
        assertThat(load.await()).isEqualTo(ErrorCode.OK);
        assertThat(load.answers()).containsExactly("model-7");
    }

    @Test
    void anAnswerThatDoesNotFitFailsItsRequestOnly() throws InterruptedException {
        model(100);
        Pipeline target = pipeline(1, 10, 0);
        TestingRequest narrow = predict(1, 2, 3).withRoomFor(2);
        TestingRequest wide = predict(4, 5, 6);
        target.submit(narrow);
        target.submit(wide);
        assertThat(narrow.await()).isEqualTo(ErrorCode.PAYLOAD_TOO_LARGE);
        assertThat(narrow.hint()).isEqualTo("Send fewer rows in one request.");
        assertThat(wide.await()).isEqualTo(ErrorCode.OK);
    }

    @Test
    void anErrorInAnAnswerEndsItsRequestOnceAndTheOthersAsUsual() throws InterruptedException {
        ServedModel model = model(100);
        model.cost().record(1, 1);
        Pipeline target = pipeline(1, 100, LATER);
        Pipeline.Burst burst = target.burst();
        TestingRequest broken = predict(1).withWriteError(new AssertionError("writer"));
        TestingRequest fine = predict(2);
        burst.submit(broken);
        burst.submit(fine);
        burst.run();
        assertThat(broken.await()).isEqualTo(ErrorCode.INTERNAL);
        assertThat(broken.message()).isEqualTo("request failed: reason=java.lang.AssertionError: writer");
        assertThat(fine.await()).isEqualTo(ErrorCode.OK);
        assertThat(broken.ends()).isEqualTo(1);
        assertThat(target.inFlight()).isZero();
        model.release();
        assertThat(scorer.isClosed()).as("both references came back").isTrue();
    }

    @Test
    void anErrorAfterALoadEndsItsRequestOnce() throws InterruptedException {
        Pipeline target = pipeline(1, 10, 0);
        TestingRequest resumed =
                predict(1).withReference(REFERENCE).withSchemaError(new StackOverflowError("descriptor"));
        TestingRequest loaded = new TestingRequest(RequestKind.LOAD, KEY, LATER, 0)
                .withReference(REFERENCE)
                .withWriteError(new AssertionError("writer"));
        target.submit(resumed);
        target.submit(loaded);
        ServedModel model = TestingServedModels.regression(KEY, scorer, 10, 10);
        assertThat(model.acquire()).isTrue();
        models.waiters.get(0).loaded(model);
        models.waiters.get(1).loaded(model);
        assertThat(resumed.await()).isEqualTo(ErrorCode.INTERNAL);
        assertThat(loaded.await()).isEqualTo(ErrorCode.INTERNAL);
        assertThat(resumed.ends() + loaded.ends()).isEqualTo(2);
        assertThat(target.inFlight()).isZero();
        assertThat(scorer.isClosed()).as("both references came back").isTrue();
    }

    @Test
    void whatGoesWrongWhileSettlingNeitherRepeatsNorLosesTheEnd() throws InterruptedException {
        Observer broken = new TestingObserver() {
            @Override
            public void answered(String model, RequestKind kind, ErrorCode code, long totalNanos) {
                throw new IllegalStateException("observer");
            }
        };
        pipeline = new Pipeline(
                new PipelineConfig(1, 10, 0), models, this::importing, broken, kind -> "fine", null, clock::get);
        model(10);
        TestingRequest request = predict(1);
        pipeline.submit(request);
        assertThat(request.await()).isEqualTo(ErrorCode.OK);
        TestingRequest echo = new TestingRequest(RequestKind.ECHO, 0, LATER, 0);
        pipeline.submit(echo);
        assertThat(echo.await()).isEqualTo(ErrorCode.OK);
        assertThat(request.ends() + echo.ends()).isEqualTo(2);
    }

    @Test
    void preprocessIsAnsweredWithoutScoring() throws InterruptedException {
        model(100);
        TestingRequest request = new TestingRequest(RequestKind.PREPROCESS, KEY, LATER, 0, 5, TestingScorer.POISON);
        pipeline(1, 10, 0).submit(request);
        assertThat(request.await()).isEqualTo(ErrorCode.OK);
        assertThat(request.answers()).containsExactly("features 5.0", "features 666.0");
        assertThat(scorer.batches()).isEmpty();
    }

    @Test
    void drainingAnswersWhatIsInAndRefusesTheRest() throws InterruptedException {
        model(100);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = scorer.hold(entered);
        Pipeline target = pipeline(1, 10, 0);
        TestingRequest running = predict(1);
        TestingRequest waiting = predict(2);
        target.submit(running);
        entered.await();
        target.submit(waiting);
        target.drain();
        TestingRequest refused = predict(3);
        target.submit(refused);
        assertThat(refused.await()).isEqualTo(ErrorCode.SHUTTING_DOWN);
        gate.countDown();
        assertThat(running.await()).isEqualTo(ErrorCode.OK);
        assertThat(waiting.await()).isEqualTo(ErrorCode.OK);
    }

    @Test
    void echoAndStatusAreAnsweredAtOnce() throws InterruptedException {
        Pipeline target = pipeline(1, 10, 0);
        TestingRequest echo = new TestingRequest(RequestKind.ECHO, 0, LATER, 0);
        TestingRequest status = new TestingRequest(RequestKind.STATUS, 0, LATER, 0);
        target.submit(echo);
        target.submit(status);
        assertThat(echo.answers()).containsExactly("payload");
        assertThat(status.answers()).containsExactly("fine");
        assertThat(echo.await()).isEqualTo(ErrorCode.OK);
    }
}
