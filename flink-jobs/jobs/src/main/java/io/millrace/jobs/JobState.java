package io.millrace.jobs;

import java.util.Locale;

/** The state of a Flink job as its REST API names it. */
public enum JobState {
    INITIALIZING(false),
    CREATED(false),
    RUNNING(false),
    FAILING(false),
    RESTARTING(false),
    RECONCILING(false),
    CANCELLING(false),
    SUSPENDED(false),
    FAILED(true),
    CANCELED(true),
    FINISHED(true);

    private final boolean terminal;

    JobState(boolean terminal) {
        this.terminal = terminal;
    }

    /** True once the job can never run again. A suspended job may come back with another JobManager. */
    public boolean terminal() {
        return terminal;
    }

    static JobState of(String text) {
        try {
            return valueOf(text.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new FlinkRestException("job state must be a known one: state=" + text, e);
        }
    }
}
