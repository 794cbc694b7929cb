package io.millrace.gateway.core;

/** One way in: accepts requests of its transport, submits them to the pipeline, carries the answers back. */
public interface Connector extends AutoCloseable {
    /** Begins to accept. */
    void start();

    /** Tells callers to go elsewhere; requests already taken are still answered. */
    void drain();

    /** Ends; the pipeline is idle by now. */
    @Override
    void close();
}
