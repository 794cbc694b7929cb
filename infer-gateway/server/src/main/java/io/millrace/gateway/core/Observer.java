package io.millrace.gateway.core;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.RequestKind;

/** What the pipeline tells the metrics. Threads: any; must be cheap. */
public interface Observer {
    /** Observes nothing. */
    Observer NONE = new Observer() {
        @Override
        public void answered(RequestKind kind, ErrorCode code, long totalNanos) {}

        @Override
        public void rejected(ErrorCode code) {}

        @Override
        public void queued(long queueNanos) {}

        @Override
        public void executed(int rowCount, long transformNanos, long scoreNanos) {}
    };

    /** A request ended; one call each, rejected ones included. */
    void answered(RequestKind kind, ErrorCode code, long totalNanos);

    /** Admission refused a request. */
    void rejected(ErrorCode code);

    /** A request left its queue. */
    void queued(long queueNanos);

    /** A batch was scored. */
    void executed(int rowCount, long transformNanos, long scoreNanos);
}
