package io.millrace.jobs;

/**
 * The cluster did not answer in time, so the outcome of the call is unknown. A caller that chose the job id itself finds
 * out with {@link FlinkRest#state} later.
 */
public final class FlinkUnreachableException extends FlinkRestException {
    private static final long serialVersionUID = 1L;

    public FlinkUnreachableException(String message, Throwable cause) {
        super(message, cause);
    }
}
