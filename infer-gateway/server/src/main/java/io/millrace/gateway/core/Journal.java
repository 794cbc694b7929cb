package io.millrace.gateway.core;

import io.millrace.contract.ErrorCode;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/*
 * Whether a request is told of is decided when it has ended, so those that failed or took long always are, whatever the
 * sampling says. A caller with a span of its own decides for its whole trace; only the others are drawn, by their trace
 * id, so that everybody who draws by the same ratio draws the same traces.
 */
/** Requests that are told of one by one: slow ones in the log, sampled ones as spans. Threads: any. */
public final class Journal {
    private static final long RANDOM_MASK = (1L << 56) - 1;

    private final long slowNanos;
    private final double ratio;
    private final @Nullable Consumer<EndedRequest> spans;
    private final Observer observer;
    private final SlowLog slowLog;

    /**
     * A journal.
     *
     * @param slowNanos predictions that take as long are slow; 0 = none is
     * @param spans takes what is traced, at once and without waiting; null when nothing is
     * @param ratio of the requests without a caller's span to trace, {@code 0 <= ratio <= 1}
     * @param clock of the pipeline
     */
    public Journal(
            long slowNanos,
            @Nullable Consumer<EndedRequest> spans,
            double ratio,
            Observer observer,
            LongSupplier clock) {
        this.slowNanos = slowNanos;
        this.spans = spans;
        this.ratio = ratio;
        this.observer = observer;
        this.slowLog = new SlowLog(clock);
    }

    /** A request ends. */
    void ended(Request request, ErrorCode code, long endNanos) {
        boolean slow = slowNanos != 0 && request.kind().hasRows() && endNanos - request.submittedNanos() >= slowNanos;
        boolean traced =
                spans != null && (slow || EndedRequest.isError(code) || isSampled(request.traceParent(), ratio));
        if (!slow && !traced) {
            return;
        }
        EndedRequest ended = EndedRequest.of(request, code, endNanos);
        if (slow) {
            observer.slow();
            slowLog.add(ended);
        }
        if (traced && spans != null) {
            spans.accept(ended);
        }
    }

    /** Drawn by the last 56 bits of the trace id, which the standard calls random; the ones before may not be. */
    static boolean isSampled(TraceParent trace, double ratio) {
        return trace.hasCaller() ? trace.sampled() : (trace.low() & RANDOM_MASK) < (long) (ratio * (RANDOM_MASK + 1));
    }
}
