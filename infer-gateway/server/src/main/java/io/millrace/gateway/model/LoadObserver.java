package io.millrace.gateway.model;

import io.millrace.contract.ErrorCode;

/** What the cache tells the metrics. Threads: any. */
public interface LoadObserver {
    /** Observes nothing. */
    LoadObserver NONE = new LoadObserver() {
        @Override
        public void loaded(ErrorCode code, long durationNanos) {}

        @Override
        public void resident(String model) {}

        @Override
        public void evicted(String model) {}
    };

    /** A load ended. */
    void loaded(ErrorCode code, long durationNanos);

    /** A model comes into memory; it answers nothing before. */
    void resident(String model);

    /** A model left memory; requests that it has are still answered. */
    void evicted(String model);
}
