package io.millrace.jobs;

/** The cluster answered, and the answer is no. Nothing more happens because of the call. */
public class FlinkRestException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public FlinkRestException(String message) {
        super(message);
    }

    public FlinkRestException(String message, Throwable cause) {
        super(message, cause);
    }
}
