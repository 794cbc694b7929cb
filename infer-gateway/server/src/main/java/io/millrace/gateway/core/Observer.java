package io.millrace.gateway.core;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.RequestKind;
import java.util.Locale;

/** What the pipeline tells the metrics. Threads: any; must be cheap. */
public interface Observer {
    /** Observes nothing. */
    Observer NONE = new Observer() {
        @Override
        public void answered(String model, RequestKind kind, ErrorCode code, long totalNanos) {}

        @Override
        public void rejected(String reason) {}

        @Override
        public void waited(String reason, long waitNanos) {}

        @Override
        public void queued(long queueNanos) {}

        @Override
        public void executed(int rowCount, long transformNanos, long scoreNanos) {}

        @Override
        public void renewed() {}

        @Override
        public void slow() {}
    };

    /**
     * A request ended; one call each, rejected ones included.
     *
     * @param model name of the one it was bound to; empty when it came to none
     */
    void answered(String model, RequestKind kind, ErrorCode code, long totalNanos);

    /** A request was refused before anything was done for it; the reason is a limit's name, or {@link #reason}. */
    void rejected(String reason);

    /** A request waited for a limit or for room in a queue, and goes on or is refused. */
    void waited(String reason, long waitNanos);

    /** The reason of a refusal that is no limit. */
    static String reason(ErrorCode code) {
        return code.name().toLowerCase(Locale.ROOT);
    }

    /** A request left its queue. */
    void queued(long queueNanos);

    /** A batch was scored. */
    void executed(int rowCount, long transformNanos, long scoreNanos);

    /** A scorer failed on a batch and was loaded again. */
    void renewed();

    /** A prediction took longer than it should. */
    void slow();
}
