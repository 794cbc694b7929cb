package io.millrace.train.spec;

/** A run cannot succeed however often it is tried; the message says why and with which numbers. */
public final class RunRefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public RunRefusedException(String message) {
        super(message);
    }

    public RunRefusedException(String message, Throwable cause) {
        super(message, cause);
    }
}
