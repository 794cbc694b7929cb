package io.millrace.train.run;

import java.util.Locale;

/** Status of a run, in the order it goes through them. */
public enum RunStatus {
    QUEUED,
    CLAIMED,
    EXPORTING,
    TRAINING,
    EVALUATING,
    PUBLISHING,
    SUCCEEDED,
    FAILED,
    CANCELLED;

    /** Whether nothing follows. */
    public boolean ended() {
        return compareTo(SUCCEEDED) >= 0;
    }

    /** As stored. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The status of this stored label. */
    public static RunStatus of(String label) {
        return valueOf(label.toUpperCase(Locale.ROOT));
    }
}
