package io.millrace.gateway.core;

import io.millrace.contract.RowReader;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.layout.RequestKind;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/*
 * A request has one owner at a time: the connector that fills it, then the pipeline, then whoever completes it. The
 * completion is the last touch, after which the connector may reuse the object for its next request. So a busy gateway
 * allocates no request objects.
 */
/**
 * One request on its way through the pipeline.
 *
 * <p>Threads: one at a time, except {@link #isWanted}.
 */
public abstract class Request {
    private static final long WAIT_NANOS_MAX = TimeUnit.HOURS.toNanos(1);

    private RequestKind kind = RequestKind.ECHO;
    private long modelKey;
    private long deadlineNanos;
    private long acceptedNanos;
    private long submittedNanos;
    private int rowCount;
    private long traceIdHigh;
    private long traceIdLow;
    private long callerSpanId;
    private boolean callerSampled;
    private boolean bulk;
    private long tenantKey;
    private long limits;

    // The pipeline's part.
    @Nullable
    ServedModel model;

    @Nullable
    RowTransform transform;

    /** What it has taken of its limits, until it ends. */
    @Nullable
    Allowance projectAllowance;

    @Nullable
    Allowance gatewayAllowance;

    /** First of its rows in the batch that holds it. */
    int firstRow;

    /** Of the batch that holds it. */
    @Nullable
    BatchTimes times;

    /**
     * Begins the next use of the object.
     *
     * @param modelKey see {@link io.millrace.contract.layout.SlotLayout#MODEL_KEY_OFFSET}
     * @param deadlineNanos of the pipeline's clock
     * @param acceptedNanos of the pipeline's clock: now
     * @param rowCount rows, or 0 for a kind without rows
     */
    protected final void open(RequestKind kind, long modelKey, long deadlineNanos, long acceptedNanos, int rowCount) {
        this.kind = kind;
        this.modelKey = modelKey;
        this.deadlineNanos = deadlineNanos;
        this.acceptedNanos = acceptedNanos;
        this.submittedNanos = acceptedNanos;
        this.rowCount = rowCount;
        this.model = null;
        this.transform = null;
        this.times = null;
        this.bulk = false;
        this.tenantKey = 0;
        this.limits = 0;
    }

    /**
     * When the caller handed it over, if the connector was busy since then. After {@link #open}.
     *
     * @param submittedNanos as the caller says; a time to come, or one that is long past, is not believed
     */
    protected final void submitted(long submittedNanos) {
        long waitedNanos = acceptedNanos - submittedNanos;
        if (waitedNanos > 0 && waitedNanos < WAIT_NANOS_MAX) {
            this.submittedNanos = submittedNanos;
        }
    }

    /**
     * Who asks; a request of nobody in particular has no limits but the gateway's own. After {@link #open}.
     *
     * @param bulk whether it is part of a large job, which may wait for single requests
     * @param tenantKey see {@link io.millrace.contract.layout.RequestLayout#TENANT_KEY_OFFSET}
     * @param limits see {@link io.millrace.contract.envelope.RequestLimits#fingerprint}; the {@link #reference} has them
     */
    protected final void tenant(boolean bulk, long tenantKey, long limits) {
        this.bulk = bulk;
        this.tenantKey = tenantKey;
        this.limits = limits;
    }

    /** The trace it is part of; the parts of a {@link TraceParent}, which most requests never need as an object. */
    protected final void trace(long traceIdHigh, long traceIdLow, long spanId, boolean sampled) {
        this.traceIdHigh = traceIdHigh;
        this.traceIdLow = traceIdLow;
        this.callerSpanId = spanId;
        this.callerSampled = sampled;
    }

    public final RequestKind kind() {
        return kind;
    }

    public final long modelKey() {
        return modelKey;
    }

    public final long deadlineNanos() {
        return deadlineNanos;
    }

    public final long acceptedNanos() {
        return acceptedNanos;
    }

    /** When the caller handed it over: where what it waits begins. */
    public final long submittedNanos() {
        return submittedNanos;
    }

    public final int rowCount() {
        return rowCount;
    }

    final boolean isBulk() {
        return bulk;
    }

    final long tenantKey() {
        return tenantKey;
    }

    final long limits() {
        return limits;
    }

    /** As above. */
    protected final void trace(TraceParent trace) {
        trace(trace.high(), trace.low(), trace.spanId(), trace.sampled());
    }

    final TraceParent traceParent() {
        return new TraceParent(traceIdHigh, traceIdLow, callerSpanId, callerSampled);
    }

    /** 32 hexadecimal digits. */
    public final String traceId() {
        return traceParent().traceId();
    }

    /** Name of the model that answers it; empty when it is bound to none. */
    final String modelName() {
        return model == null ? "" : model.name();
    }

    /** Whether the caller still waits; any thread may ask. */
    public abstract boolean isWanted();

    /**
     * Where the model's package is, if the caller told.
     *
     * @throws io.millrace.contract.ContractException if it told nonsense
     */
    public abstract @Nullable ModelReference reference();

    /** Columns of the rows; null when the caller named a descriptor that is not known here. */
    public abstract @Nullable RowSchema schema();

    /**
     * The rows, first to last: the n-th call gives the n-th row, as a view that the next call moves.
     *
     * @throws io.millrace.contract.ContractException if the bytes of the rows break the envelope
     */
    public abstract RowReader nextRow();

    /** The bytes of an {@link RequestKind#ECHO} or {@link RequestKind#IMPORT}. */
    public abstract ByteBuffer payload();

    /** Where the answer goes. */
    public abstract Completion completion();
}
