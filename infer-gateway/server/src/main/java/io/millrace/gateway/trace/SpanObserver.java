package io.millrace.gateway.trace;

/** What becomes of spans. Threads: any. */
public interface SpanObserver {
    /** The collector took them. */
    void exported(int spanCount);

    /** The collector did not take them. */
    void failed(int spanCount);

    /** Too many waited for the collector already. */
    void dropped(int spanCount);
}
