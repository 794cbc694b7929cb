package io.millrace.gateway.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.layout.RequestKind;
import io.millrace.gateway.core.EndedRequest.Stages;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the journal tells of requests that went through a pipeline. */
class JournalTest {
    private static final long KEY = 7;
    private static final long MILLI = 1_000_000;
    private static final long LATER = 1_000 * MILLI;
    private static final TraceParent SAMPLED = new TraceParent(3, 4, 5, true);
    private static final TraceParent NOT_SAMPLED = new TraceParent(3, 4, 5, false);

    private final AtomicLong clock = new AtomicLong(MILLI);
    private final TestingScorer scorer = new TestingScorer();
    private final ServedModel model = TestingServedModels.regression(KEY, scorer, 10, 100);
    private final List<EndedRequest> spans = new CopyOnWriteArrayList<>();
    private @Nullable Pipeline pipeline;

    private final TestingObserver observer = new TestingObserver();

    private final Models models = new Models() {
        @Override
        public @Nullable ServedModel acquire(long modelKey) {
            return modelKey == KEY && model.acquire() ? model : null;
        }

        @Override
        public void load(long modelKey, ModelReference reference, Waiter waiter) {
            throw new AssertionError("nothing to load");
        }

        @Override
        public int residentCount() {
            return 1;
        }
    };

    private Pipeline pipeline(int batchRowsMax, long slowMillis, double ratio, boolean traces) {
        Journal journal = new Journal(slowMillis * MILLI, traces ? spans::add : null, ratio, observer, clock::get);
        pipeline = new Pipeline(
                new PipelineConfig(1, batchRowsMax, 0),
                models,
                Importer.NONE,
                observer,
                kind -> "fine",
                journal,
                clock::get);
        return pipeline;
    }

    private TestingRequest request(RequestKind kind, double... values) {
        return new TestingRequest(kind, KEY, LATER, clock.get(), values);
    }

    private ErrorCode run(Pipeline target, TestingRequest request) throws InterruptedException {
        target.submit(request);
        return request.await();
    }

    @AfterEach
    void close() {
        if (pipeline != null) {
            assertThat(pipeline.awaitIdle(TimeUnit.SECONDS.toNanos(30))).isTrue();
            pipeline.close();
        }
    }

    @Test
    void tellsWhatARequestWentThrough() throws InterruptedException {
        Pipeline target = pipeline(10, 0, 0, true);
        scorer.onScore(() -> clock.addAndGet(7 * MILLI));
        TestingRequest request = request(RequestKind.PREDICT, 1, 2, 3).of(SAMPLED);
        clock.addAndGet(4 * MILLI);
        assertThat(run(target, request)).isEqualTo(ErrorCode.OK);
        assertThat(spans)
                .containsExactly(new EndedRequest(
                        SAMPLED,
                        RequestKind.PREDICT,
                        "model-7",
                        3,
                        ErrorCode.OK,
                        MILLI,
                        12 * MILLI,
                        new Stages(4 * MILLI, 0, 7 * MILLI, 3)));
    }

    @Test
    void aRequestInBlocksHasTheSums() throws InterruptedException {
        Pipeline target = pipeline(2, 0, 0, true);
        scorer.onScore(() -> clock.addAndGet(MILLI));
        assertThat(run(target, request(RequestKind.PREDICT, 1, 2, 3, 4, 5).of(SAMPLED)))
                .isEqualTo(ErrorCode.OK);
        assertThat(spans).extracting(EndedRequest::stages).containsExactly(new Stages(0, 0, 3 * MILLI, 5));
    }

    @Test
    void whatIsInNoBatchHasNoStages() throws InterruptedException {
        Pipeline target = pipeline(10, 0, 0, true);
        run(target, request(RequestKind.ECHO).of(SAMPLED));
        assertThat(spans).hasSize(1);
        assertThat(spans.get(0).stages()).isNull();
        assertThat(spans.get(0).model()).isEmpty();
    }

    @Test
    void theCallerDecidesAndTheRatioForTheOthers() throws InterruptedException {
        Pipeline all = pipeline(10, 0, 1, true);
        run(all, request(RequestKind.PREDICT, 1).of(NOT_SAMPLED));
        assertThat(spans).isEmpty();
        run(all, request(RequestKind.PREDICT, 1));
        assertThat(spans).hasSize(1);
        close();
        Pipeline none = pipeline(10, 0, 0, true);
        run(none, request(RequestKind.PREDICT, 1));
        assertThat(spans).hasSize(1);
        run(none, request(RequestKind.PREDICT, 1).of(SAMPLED));
        assertThat(spans).hasSize(2);
    }

    @Test
    void aRatioTakesThatPartOfTheTraces() {
        for (double ratio : new double[] {0.25, 0.01}) {
            long taken = new Random(1)
                    .longs(100_000)
                    // The extension's ids are never 0, which costs one bit of their first byte its chance.
                    .map(low -> low | 1L << 56)
                    .filter(low -> Journal.isSampled(new TraceParent(1, low, 0, false), ratio))
                    .count();
            assertThat(taken / 100_000.0).isBetween(ratio * 0.9, ratio * 1.1);
        }
        assertThat(Journal.isSampled(new TraceParent(1, -1, 0, false), 1)).isTrue();
        assertThat(Journal.isSampled(new TraceParent(1, 1, 0, false), 0)).isFalse();
    }

    @Test
    void errorsAreToldWhateverTheSamplingSays() throws InterruptedException {
        Pipeline target = pipeline(10, 0, 0, true);
        assertThat(run(target, request(RequestKind.PREDICT).of(NOT_SAMPLED))).isEqualTo(ErrorCode.EMPTY_BATCH);
        TestingRequest late = request(RequestKind.PREDICT, 1);
        clock.set(LATER + MILLI);
        assertThat(run(target, late)).isEqualTo(ErrorCode.DEADLINE_EXCEEDED);
        assertThat(spans)
                .extracting(EndedRequest::code)
                .containsExactly(ErrorCode.EMPTY_BATCH, ErrorCode.DEADLINE_EXCEEDED);
    }

    @Test
    void questionsOfTheProtocolAreNoErrors() throws InterruptedException {
        Pipeline target = pipeline(10, 0, 0, true);
        assertThat(run(target, request(RequestKind.PREDICT, 1).withoutSchema())).isEqualTo(ErrorCode.NEED_DESCRIPTOR);
        assertThat(run(target, new TestingRequest(RequestKind.PREDICT, 8, LATER, clock.get(), 1)))
                .isEqualTo(ErrorCode.NEED_MODEL);
        assertThat(spans).isEmpty();
    }

    @Test
    void slowPredictionsAreToldAndCounted() throws InterruptedException {
        Pipeline target = pipeline(10, 5, 0, true);
        scorer.onScore(() -> clock.addAndGet(5 * MILLI));
        run(target, request(RequestKind.PREDICT, 1).of(NOT_SAMPLED));
        assertThat(spans).hasSize(1);
        assertThat(observer.slow).hasValue(1);
        scorer.onScore(() -> clock.addAndGet(5 * MILLI - 1));
        run(target, request(RequestKind.PREDICT, 1).of(NOT_SAMPLED));
        assertThat(spans).hasSize(1);
        TestingRequest echo = request(RequestKind.ECHO);
        clock.addAndGet(50 * MILLI);
        run(target, echo);
        assertThat(observer.slow).as("only predictions are slow").hasValue(1);
    }

    @Test
    void slowPredictionsNeedNoTraces() throws InterruptedException {
        Pipeline target = pipeline(10, 5, 1, false);
        scorer.onScore(() -> clock.addAndGet(5 * MILLI));
        run(target, request(RequestKind.PREDICT, 1).of(SAMPLED));
        assertThat(observer.slow).hasValue(1);
        assertThat(spans).isEmpty();
    }

    @Test
    void theSlowLineHasAllThatIsKnown() {
        EndedRequest ended = new EndedRequest(
                SAMPLED,
                RequestKind.PROBA,
                "churn/3",
                2,
                ErrorCode.OK,
                0,
                12_500_000,
                new Stages(MILLI, 2 * MILLI, 9 * MILLI, 64));
        assertThat(SlowLog.line(ended, 4))
                .isEqualTo("request is slow: kind=PROBA, model=churn/3, rows=2, code=OK, batchRows=64,"
                        + " queueMillis=1.000, transformMillis=2.000, scoreMillis=9.000, totalMillis=12.500,"
                        + " suppressed=4");
        EndedRequest refused =
                new EndedRequest(SAMPLED, RequestKind.PREDICT, "", 1, ErrorCode.QUEUE_FULL, 0, MILLI, null);
        assertThat(SlowLog.line(refused, 0))
                .isEqualTo("request is slow: kind=PREDICT, model=, rows=1, code=QUEUE_FULL, totalMillis=1.000,"
                        + " suppressed=0");
    }
}
