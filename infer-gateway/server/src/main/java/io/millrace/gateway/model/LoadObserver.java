package io.millrace.gateway.model;

import io.millrace.contract.ErrorCode;

/** What the cache tells the metrics. Threads: any. */
public interface LoadObserver {
    /** Observes nothing. */
    LoadObserver NONE = new LoadObserver() {
        @Override
        public void loaded(ErrorCode code, long durationNanos) {}

        @Override
        public void evicted() {}
    };

    /** A load ended. */
    void loaded(ErrorCode code, long durationNanos);

    /** A model left the cache to make room. */
    void evicted();
}
