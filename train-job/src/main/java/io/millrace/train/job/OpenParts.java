package io.millrace.train.job;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What an object holds open, closed in reverse order. A constructor that fails closes what it has opened: the
 * TaskManager lives on, and nobody else knows of it.
 *
 * <p>One thread.
 */
final class OpenParts implements AutoCloseable {
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    /** Remembers to close it. */
    <T extends AutoCloseable> T add(T part) {
        parts.push(part);
        return part;
    }

    /** Closes everything after a failure; what fails now is suppressed in it. */
    void closeAfter(Exception failure) {
        try {
            close();
        } catch (IOException | RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    /**
     * Closes all parts whatever happens; closing again does nothing.
     *
     * @throws IOException the first failure, with the others suppressed
     */
    @Override
    public void close() throws IOException {
        @Nullable IOException failure = null;
        while (!parts.isEmpty()) {
            try {
                parts.pop().close();
            } catch (Exception e) {
                if (e instanceof InterruptedException) {
                    Thread.currentThread().interrupt();
                }
                if (failure == null) {
                    failure = new IOException("cannot be closed: cause=" + e.getMessage(), e);
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
