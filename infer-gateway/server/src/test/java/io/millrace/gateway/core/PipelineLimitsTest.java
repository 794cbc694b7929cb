package io.millrace.gateway.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.envelope.RequestLimits;
import io.millrace.contract.layout.RequestKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PipelineLimitsTest {
    private static final long KEY = 7;
    private static final long TENANT = 11;
    private static final long MILLI = 1_000_000;
    private static final long DEADLINE = 10_000 * MILLI;
    private static final int UNBOUNDED = 1 << 20;

    private final AtomicLong clock = new AtomicLong();
    private final TestingScorer scorer = new TestingScorer();
    private final ServedModel model = TestingServedModels.regression(KEY, scorer, 10, UNBOUNDED);
    private final List<String> events = Collections.synchronizedList(new ArrayList<>());
    private @Nullable Pipeline pipeline;

    private final Observer observer = new TestingObserver() {
        @Override
        public void rejected(String reason) {
            events.add("rejected " + reason);
        }

        @Override
        public void waited(String reason, long waitNanos) {
            events.add("waited " + reason + " " + waitNanos / MILLI);
        }
    };

    private static final class OneModel implements Models {
        private final ServedModel model;

        private OneModel(ServedModel model) {
            this.model = model;
        }

        @Override
        public @Nullable ServedModel acquire(long modelKey) {
            return model.acquire() ? model : null;
        }

        @Override
        public void load(long modelKey, ModelReference reference, Waiter waiter) {
            waiter.loaded(model);
        }

        @Override
        public int residentCount() {
            return 1;
        }
    }

    private Pipeline pipeline(RequestLimits limits, boolean queueFullWaits, int waitingRowsMax, ServedModel served) {
        pipeline = new Pipeline(
                new PipelineConfig(1, 1, 0, 0, limits, queueFullWaits, waitingRowsMax),
                new OneModel(served),
                Importer.NONE,
                observer,
                kind -> "fine",
                null,
                clock::get);
        return pipeline;
    }

    private Pipeline pipeline(RequestLimits limits) {
        return pipeline(limits, false, UNBOUNDED, model);
    }

    private static double[] rows(int count) {
        return new double[count];
    }

    private TestingRequest predict(int rowCount) {
        return new TestingRequest(RequestKind.PREDICT, KEY, DEADLINE, clock.get(), rows(rowCount));
    }

    /** As a session sends it that has been told to bring the reference. */
    private TestingRequest predict(RequestLimits limits, int rowCount) {
        return predict(rowCount)
                .of(TENANT, limits)
                .withReference(new ModelReference(1, "p", "d", "store:d/1/1-1", "ab".repeat(32), 10, limits));
    }

    private static RequestLimits requestsPerSecond(long count, boolean waits) {
        return new RequestLimits(count, 0, 0, waits);
    }

    /** What was observed; whoever was let out of a line is noted by then. */
    private List<String> events(Pipeline target) {
        assertThat(target.waiting()).isZero();
        return events;
    }

    @AfterEach
    void everyRequestEnded() {
        if (pipeline != null) {
            assertThat(pipeline.awaitIdle(TimeUnit.SECONDS.toNanos(30))).isTrue();
            assertThat(pipeline.pendingRows()).isZero();
            assertThat(pipeline.waiting()).isZero();
            pipeline.close();
        }
    }

    @Test
    void requestsPerSecondOfAProjectAreExact() throws InterruptedException {
        RequestLimits limits = requestsPerSecond(2, false);
        Pipeline target = pipeline(RequestLimits.NONE);
        for (int i = 0; i < 2; i++) {
            TestingRequest allowed = predict(limits, 1);
            target.submit(allowed);
            assertThat(allowed.await()).isEqualTo(ErrorCode.OK);
        }
        TestingRequest refused = predict(limits, 1);
        target.submit(refused);
        assertThat(refused.await()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
        assertThat(refused.message())
                .isEqualTo("limit of the project is reached: project=p, limit=requests_per_second, value=2,"
                        + " requested=1, retryMillis=500");
        assertThat(refused.hint())
                .isEqualTo("Ask less at once, or change requests_per_second of the project in ml.limits.");
        clock.set(500 * MILLI - 1);
        TestingRequest early = predict(limits, 1);
        target.submit(early);
        assertThat(early.await()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
        clock.set(500 * MILLI);
        TestingRequest refilled = predict(limits, 1);
        target.submit(refilled);
        assertThat(refilled.await()).isEqualTo(ErrorCode.OK);
        TestingRequest other = predict(1)
                .of(TENANT + 1, limits)
                .withReference(new ModelReference(1, "q", "d", "u", "ab".repeat(32), 10, limits));
        target.submit(other);
        assertThat(other.await()).as("another project has its own").isEqualTo(ErrorCode.OK);
        assertThat(events(target))
                .containsExactly("rejected project_requests_per_second", "rejected project_requests_per_second");
    }

    @Test
    void rowsPerSecondAreExact() throws InterruptedException {
        RequestLimits limits = new RequestLimits(0, 10, 0, false);
        Pipeline target = pipeline(RequestLimits.NONE);
        TestingRequest seven = predict(limits, 7);
        TestingRequest four = predict(limits, 4);
        TestingRequest three = predict(limits, 3);
        target.submit(seven);
        target.submit(four);
        target.submit(three);
        assertThat(seven.await()).isEqualTo(ErrorCode.OK);
        assertThat(four.await()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
        assertThat(four.message())
                .isEqualTo("limit of the project is reached: project=p, limit=rows_per_second, value=10, requested=4,"
                        + " retryMillis=100");
        assertThat(three.await()).isEqualTo(ErrorCode.OK);
    }

    @Test
    void concurrentRequestsAreExactAndEndWithTheirRequest() throws InterruptedException {
        RequestLimits limits = new RequestLimits(0, 0, 2, false);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = scorer.hold(entered);
        Pipeline target = pipeline(RequestLimits.NONE);
        TestingRequest first = predict(limits, 1);
        TestingRequest second = predict(limits, 1);
        TestingRequest third = predict(limits, 1);
        target.submit(first);
        target.submit(second);
        target.submit(third);
        assertThat(third.await()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
        assertThat(third.message())
                .isEqualTo(
                        "limit of the project is reached: project=p, limit=concurrent_requests, value=2, requested=1,"
                                + " inFlight=2");
        gate.countDown();
        assertThat(first.await()).isEqualTo(ErrorCode.OK);
        assertThat(second.await()).isEqualTo(ErrorCode.OK);
        assertThat(target.awaitIdle(TimeUnit.SECONDS.toNanos(30))).isTrue();
        TestingRequest fourth = predict(limits, 1);
        target.submit(fourth);
        assertThat(fourth.await()).isEqualTo(ErrorCode.OK);
    }

    @Test
    void whatTheGatewayRefusesDoesNotCountForTheProject() throws InterruptedException {
        RequestLimits limits = requestsPerSecond(2, false);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = scorer.hold(entered);
        Pipeline target = pipeline(new RequestLimits(0, 0, 1, false));
        TestingRequest first = predict(limits, 1);
        TestingRequest refused = predict(limits, 1);
        target.submit(first);
        target.submit(refused);
        assertThat(refused.await()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
        assertThat(refused.message())
                .isEqualTo(
                        "limit of the gateway is reached: limit=concurrent-requests, value=1, requested=1, inFlight=1");
        assertThat(refused.hint()).isEqualTo("Ask less at once, or raise concurrent-requests in gateway.properties.");
        gate.countDown();
        assertThat(first.await()).isEqualTo(ErrorCode.OK);
        assertThat(target.awaitIdle(TimeUnit.SECONDS.toNanos(30))).isTrue();
        TestingRequest second = predict(limits, 1);
        target.submit(second);
        assertThat(second.await()).isEqualTo(ErrorCode.OK);
        assertThat(target.awaitIdle(TimeUnit.SECONDS.toNanos(30))).isTrue();
        TestingRequest third = predict(limits, 1);
        target.submit(third);
        assertThat(third.message()).startsWith("limit of the project is reached: ");
    }

    @Test
    void onlyPredictionsAreLimited() throws InterruptedException {
        Pipeline target = pipeline(requestsPerSecond(1, false));
        target.submit(predict(1));
        TestingRequest echo = new TestingRequest(RequestKind.ECHO, 0, DEADLINE, 0);
        target.submit(echo);
        assertThat(echo.await()).isEqualTo(ErrorCode.OK);
    }

    @Test
    void aRequestNamesItsLimitsAndBringsThemWhenAsked() throws InterruptedException {
        RequestLimits limits = requestsPerSecond(1, false);
        Pipeline target = pipeline(RequestLimits.NONE);
        TestingRequest named = predict(1).of(TENANT, limits);
        target.submit(named);
        assertThat(named.await()).isEqualTo(ErrorCode.NEED_MODEL);
        assertThat(named.message())
                .isEqualTo("limits of the project are not known: tenantKey=b, limits="
                        + Long.toHexString(limits.fingerprint()));
        RequestLimits others = requestsPerSecond(2, false);
        TestingRequest wrong = predict(others, 1).of(TENANT, limits);
        target.submit(wrong);
        assertThat(wrong.await()).isEqualTo(ErrorCode.INVALID_ENVELOPE);
        assertThat(wrong.message())
                .isEqualTo("request must bring the limits it names: limits=" + Long.toHexString(limits.fingerprint())
                        + ", sent=" + Long.toHexString(others.fingerprint()));
        TestingRequest askedAgain = predict(limits, 1).withoutSchema();
        target.submit(askedAgain);
        assertThat(askedAgain.await()).isEqualTo(ErrorCode.NEED_DESCRIPTOR);
        TestingRequest complete = predict(1).of(TENANT, limits);
        target.submit(complete);
        assertThat(complete.await())
                .as("questions of the protocol do not count")
                .isEqualTo(ErrorCode.OK);
        assertThat(target.tenants()).isEqualTo(1);
        assertThat(events(target)).containsExactly("rejected invalid_envelope");
    }

    @Test
    void sessionsThatSeeDifferentLimitsAreHeldToTheirsAgainstTheSameCounters() throws InterruptedException {
        RequestLimits before = requestsPerSecond(1, false);
        RequestLimits after = requestsPerSecond(100, false);
        Pipeline target = pipeline(RequestLimits.NONE);
        TestingRequest first = predict(before, 1);
        target.submit(first);
        assertThat(first.await()).isEqualTo(ErrorCode.OK);
        clock.set(10 * MILLI);
        TestingRequest raised = predict(after, 1);
        target.submit(raised);
        assertThat(raised.await()).isEqualTo(ErrorCode.OK);
        TestingRequest rolledBack = predict(1).of(TENANT, before);
        target.submit(rolledBack);
        assertThat(rolledBack.await()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
        assertThat(rolledBack.message()).contains("value=1, requested=1, retryMillis=1000");
        TestingRequest without = predict(1);
        target.submit(without);
        assertThat(without.await()).as("a project whose limits were deleted").isEqualTo(ErrorCode.OK);
    }

    @Test
    void aChangeWhileRequestsRunCountsThemAsTheyWereTaken() throws InterruptedException {
        RequestLimits two = new RequestLimits(0, 0, 2, false);
        RequestLimits one = new RequestLimits(0, 0, 1, false);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = scorer.hold(entered);
        Pipeline target = pipeline(RequestLimits.NONE);
        TestingRequest first = predict(two, 1);
        TestingRequest second = predict(two, 1);
        target.submit(first);
        target.submit(second);
        TestingRequest lowered = predict(one, 1);
        target.submit(lowered);
        assertThat(lowered.await()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
        assertThat(lowered.message()).endsWith("value=1, requested=1, inFlight=2");
        gate.countDown();
        assertThat(first.await()).isEqualTo(ErrorCode.OK);
        assertThat(second.await()).isEqualTo(ErrorCode.OK);
        assertThat(target.awaitIdle(TimeUnit.SECONDS.toNanos(30))).isTrue();
        TestingRequest next = predict(one, 1);
        target.submit(next);
        assertThat(next.await()).isEqualTo(ErrorCode.OK);
    }

    @Test
    void manyVersionsOfLimitsAreForgottenButTheLatest() throws InterruptedException {
        Pipeline target = pipeline(RequestLimits.NONE);
        for (int version = 1; version <= 6; version++) {
            TestingRequest request = predict(requestsPerSecond(100 + version, false), 1);
            target.submit(request);
            assertThat(request.await()).isEqualTo(ErrorCode.OK);
        }
        TestingRequest old = predict(1).of(TENANT, requestsPerSecond(102, false));
        target.submit(old);
        assertThat(old.await()).isEqualTo(ErrorCode.NEED_MODEL);
        TestingRequest recent = predict(1).of(TENANT, requestsPerSecond(103, false));
        target.submit(recent);
        assertThat(recent.await()).isEqualTo(ErrorCode.OK);
    }

    @Test
    void whoMayWaitGetsItsTurnInOrder() throws InterruptedException {
        RequestLimits limits = requestsPerSecond(1, true);
        Pipeline target = pipeline(RequestLimits.NONE);
        List<TestingRequest> requests = List.of(predict(limits, 1), predict(limits, 1), predict(limits, 1));
        requests.forEach(target::submit);
        assertThat(requests.get(0).await()).isEqualTo(ErrorCode.OK);
        assertThat(target.waiting()).isEqualTo(2);
        clock.set(1_000 * MILLI);
        assertThat(requests.get(1).await()).isEqualTo(ErrorCode.OK);
        assertThat(requests.get(2).isDone()).isFalse();
        clock.set(2_000 * MILLI);
        assertThat(requests.get(2).await()).isEqualTo(ErrorCode.OK);
        assertThat(events(target))
                .containsExactly("waited project_requests_per_second 1000", "waited project_requests_per_second 2000");
    }

    @Test
    void whoWaitsIsNotOvertaken() throws InterruptedException {
        RequestLimits limits = new RequestLimits(0, 10, 0, true);
        Pipeline target = pipeline(RequestLimits.NONE);
        TestingRequest seven = predict(limits, 7);
        TestingRequest large = predict(limits, 9);
        TestingRequest small = predict(limits, 1);
        target.submit(seven);
        target.submit(large);
        target.submit(small);
        assertThat(seven.await()).isEqualTo(ErrorCode.OK);
        assertThat(target.waiting())
                .as("the small one would fit, and stands behind")
                .isEqualTo(2);
        clock.set(700 * MILLI);
        assertThat(large.await()).isEqualTo(ErrorCode.OK);
        assertThat(small.await()).isEqualTo(ErrorCode.OK);
    }

    @Test
    void aWaitEndsBeforeTheDeadlineWithTheReason() throws InterruptedException {
        RequestLimits limits = requestsPerSecond(1, true);
        Pipeline target = pipeline(RequestLimits.NONE);
        target.submit(predict(limits, 1));
        TestingRequest late = new TestingRequest(RequestKind.PREDICT, KEY, 400 * MILLI, 0, 1).of(TENANT, limits);
        target.submit(late);
        clock.set(395 * MILLI + 1);
        assertThat(late.await()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
        assertThat(late.message())
                .isEqualTo("limit of the project is reached: project=p, limit=requests_per_second, value=1,"
                        + " requested=1, retryMillis=1000, waitedMillis=395");
        assertThat(events(target))
                .containsExactly("waited project_requests_per_second 395", "rejected project_requests_per_second");
    }

    @Test
    void aWaitEndsWhenItsCallerGoes() throws InterruptedException {
        RequestLimits limits = requestsPerSecond(1, true);
        Pipeline target = pipeline(RequestLimits.NONE);
        target.submit(predict(limits, 1));
        TestingRequest cancelled = predict(limits, 1);
        target.submit(cancelled);
        cancelled.cancel();
        assertThat(cancelled.await()).isEqualTo(ErrorCode.CANCELLED);
    }

    @Test
    void aLineIsBoundedInRows() throws InterruptedException {
        RequestLimits limits = requestsPerSecond(1, true);
        Pipeline target = pipeline(RequestLimits.NONE, false, 3, model);
        target.submit(predict(limits, 1));
        TestingRequest waits = predict(limits, 2);
        TestingRequest refused = predict(limits, 2);
        target.submit(waits);
        target.submit(refused);
        assertThat(refused.await()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
        assertThat(waits.isDone()).isFalse();
        clock.set(1_000 * MILLI);
        assertThat(waits.await()).isEqualTo(ErrorCode.OK);
    }

    @Test
    void whoWaitsForAnotherRequestGoesOnWhenThatEnds() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = scorer.hold(entered);
        Pipeline target = pipeline(new RequestLimits(0, 0, 1, true));
        TestingRequest first = predict(1);
        TestingRequest second = predict(1);
        target.submit(first);
        target.submit(second);
        assertThat(target.waiting()).isEqualTo(1);
        gate.countDown();
        assertThat(first.await()).isEqualTo(ErrorCode.OK);
        assertThat(second.await()).isEqualTo(ErrorCode.OK);
        assertThat(events(target)).containsExactly("waited gateway_concurrent_requests 0");
    }

    @Test
    void whoFindsTheQueueFullMayWaitForRoom() throws InterruptedException {
        ServedModel narrow = TestingServedModels.regression(KEY, scorer, 10, 1);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch gate = scorer.hold(entered);
        Pipeline target = pipeline(RequestLimits.NONE, true, 2, narrow);
        TestingRequest running = predict(1);
        target.submit(running);
        entered.await();
        List<TestingRequest> others = List.of(predict(1), predict(1), predict(1));
        others.forEach(target::submit);
        TestingRequest refused = predict(1);
        target.submit(refused);
        assertThat(refused.await()).as("the line is full too").isEqualTo(ErrorCode.QUEUE_FULL);
        assertThat(target.waiting()).isEqualTo(2);
        assertThat(target.pendingRows()).isEqualTo(1);
        gate.countDown();
        for (TestingRequest request : others) {
            assertThat(request.await()).isEqualTo(ErrorCode.OK);
        }
        assertThat(events(target)).containsExactly("rejected queue_full", "waited queue_full 0", "waited queue_full 0");
    }

    @Test
    void drainingRefusesWhoWaits() throws InterruptedException {
        RequestLimits limits = requestsPerSecond(1, true);
        Pipeline target = pipeline(RequestLimits.NONE);
        TestingRequest first = predict(limits, 1);
        TestingRequest waits = predict(limits, 1);
        target.submit(first);
        target.submit(waits);
        target.drain();
        assertThat(waits.await()).isEqualTo(ErrorCode.SHUTTING_DOWN);
        assertThat(first.await()).isEqualTo(ErrorCode.OK);
    }
}
