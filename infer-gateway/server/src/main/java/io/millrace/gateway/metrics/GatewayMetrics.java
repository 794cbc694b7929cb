package io.millrace.gateway.metrics;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.RequestKind;
import io.millrace.gateway.core.Observer;
import io.millrace.gateway.model.LoadObserver;
import io.millrace.gateway.trace.SpanObserver;
import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.Locale;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/** All metrics of the gateway. Threads: any. */
public final class GatewayMetrics implements Observer, LoadObserver, SpanObserver {
    private static final double NANOS_PER_SECOND = 1e9;

    /** From a microsecond to ten seconds; the native histogram has finer ones of its own. */
    private static final double[] SECONDS = {
        1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25,
        0.5, 1, 2.5, 5, 10
    };

    private static final String[] SPAN_RESULTS = {"exported", "failed", "dropped"};

    private static final double[] ROWS = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384};

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final RequestCounters requests;
    private final CounterDataPoint rows;
    private final CounterDataPoint executions;
    private final Counter rejects;
    private final Counter loads;
    private final Counter waits;
    private final CounterDataPoint evictions;
    private final DistributionDataPoint batchRows;
    private final DistributionDataPoint waitSeconds;
    private final CounterDataPoint renewals;
    private final CounterDataPoint slow;
    private final Counter spans;
    private final DistributionDataPoint queueSeconds;
    private final DistributionDataPoint transformSeconds;
    private final DistributionDataPoint scoreSeconds;
    private final DistributionDataPoint totalSeconds;
    private final DistributionDataPoint loadSeconds;

    /** Registers everything the pipeline and the model cache report. */
    public GatewayMetrics() {
        requests = new RequestCounters(counter(
                "millrace_request_total",
                "Requests that ended, by model in memory (project/id; empty for no model), kind and result.",
                "model",
                "kind",
                "code"));
        rows = counter("millrace_rows_total", "Rows that were scored.").labelValues();
        executions = counter(
                        "millrace_executions_total", "Batches that were scored; rows per execution is the mean batch.")
                .labelValues();
        rejects = counter(
                "millrace_rejects_total",
                "Requests that were refused, by the limit's name or another reason.",
                "reason");
        waits = counter(
                "millrace_waits_total",
                "Requests that waited for a limit or for room in a queue, by reason.",
                "reason");
        loads = counter("millrace_model_loads_total", "Model loads that ended, by result.", "code");
        evictions = counter("millrace_model_evictions_total", "Models that left memory.")
                .labelValues();
        batchRows = histogram("millrace_batch_rows", "Rows of a batch.", ROWS);
        waitSeconds =
                histogram("millrace_wait_seconds", "Time that a request waited for a limit or for room in a queue.");
        renewals = counter("millrace_scorer_renewals_total", "Scorers loaded again because a batch of theirs failed.")
                .labelValues();
        slow = counter("millrace_slow_requests_total", "Predictions that took slow-request-millis or longer.")
                .labelValues();
        spans = counter(
                "millrace_spans_total",
                "Spans by what became of them: exported, failed (the collector did not take them), dropped (too many"
                        + " waited for it).",
                "result");
        queueSeconds = histogram("millrace_queue_seconds", "From submission to the beginning of the batch.");
        transformSeconds = histogram("millrace_transform_seconds", "Decoding and preprocessing of a batch.");
        scoreSeconds = histogram("millrace_score_seconds", "Scoring of a batch.");
        totalSeconds = histogram("millrace_total_seconds", "From submission to the answer.");
        loadSeconds = histogram("millrace_model_load_seconds", "Fetching, verifying, loading and warming a model.");
        GaugeWithCallback.builder()
                .name("millrace_memory_bytes")
                .help(
                        "Resident memory of the process: anonymous (heap, models, native), file (mapped), shared (region).")
                .labelNames("part")
                .callback(callback -> ProcessMemory.bytes().forEach((part, bytes) -> callback.call(bytes, part)))
                .register(registry);
        JvmMetrics.builder().register(registry);
        beginAtZero();
    }

    /** Counters of what may never happen are there all the same, so that their rates are zero and not unknown. */
    private void beginAtZero() {
        rejects.initLabelValues(Observer.reason(ErrorCode.QUEUE_FULL));
        rejects.initLabelValues(Observer.reason(ErrorCode.DEADLINE_EXCEEDED));
        waits.initLabelValues(Observer.reason(ErrorCode.QUEUE_FULL));
        loads.initLabelValues(label(ErrorCode.OK));
        for (String result : SPAN_RESULTS) {
            spans.initLabelValues(result);
        }
    }

    private Counter counter(String name, String help, String... labels) {
        return Counter.builder()
                .name(name)
                .help(help)
                .labelNames(labels)
                .withoutExemplars()
                .register(registry);
    }

    private DistributionDataPoint histogram(String name, String help) {
        return histogram(name, help, SECONDS);
    }

    private DistributionDataPoint histogram(String name, String help, double[] upperBounds) {
        return Histogram.builder()
                .name(name)
                .help(help)
                .classicUpperBounds(upperBounds)
                .withoutExemplars()
                .register(registry)
                .labelValues();
    }

    /** Adds a value that is read when Prometheus asks. */
    public void gauge(String name, String help, DoubleSupplier value) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .callback(callback -> callback.call(value.getAsDouble()))
                .register(registry);
    }

    /** As above, for nanoseconds that are told in seconds. */
    public void secondsGauge(String name, String help, LongSupplier nanos) {
        gauge(name, help, () -> nanos.getAsLong() / NANOS_PER_SECOND);
    }

    /** Everything that is registered, to be served. */
    public PrometheusRegistry registry() {
        return registry;
    }

    /** What {@code ml.metrics()} answers: a JSON list of samples. */
    public String report() {
        return MetricsReport.json(registry.scrape());
    }

    @Override
    public void answered(String model, RequestKind kind, ErrorCode code, long totalNanos) {
        requests.count(model, kind, code);
        totalSeconds.observe(totalNanos / NANOS_PER_SECOND);
    }

    @Override
    public void rejected(String reason) {
        rejects.labelValues(reason).inc();
    }

    @Override
    public void waited(String reason, long waitNanos) {
        waits.labelValues(reason).inc();
        waitSeconds.observe(waitNanos / NANOS_PER_SECOND);
    }

    @Override
    public void queued(long queueNanos) {
        queueSeconds.observe(queueNanos / NANOS_PER_SECOND);
    }

    @Override
    public void executed(int rowCount, long transformNanos, long scoreNanos) {
        rows.inc(rowCount);
        executions.inc();
        batchRows.observe(rowCount);
        transformSeconds.observe(transformNanos / NANOS_PER_SECOND);
        scoreSeconds.observe(scoreNanos / NANOS_PER_SECOND);
    }

    @Override
    public void renewed() {
        renewals.inc();
    }

    @Override
    public void slow() {
        slow.inc();
    }

    @Override
    public void exported(int spanCount) {
        spans.labelValues("exported").inc(spanCount);
    }

    @Override
    public void failed(int spanCount) {
        spans.labelValues("failed").inc(spanCount);
    }

    @Override
    public void dropped(int spanCount) {
        spans.labelValues("dropped").inc(spanCount);
    }

    @Override
    public void resident(String model) {
        requests.resident(model);
    }

    @Override
    public void loaded(ErrorCode code, long durationNanos) {
        loads.labelValues(label(code)).inc();
        loadSeconds.observe(durationNanos / NANOS_PER_SECOND);
    }

    @Override
    public void evicted(String model) {
        requests.evicted(model);
        evictions.inc();
    }

    static String label(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
