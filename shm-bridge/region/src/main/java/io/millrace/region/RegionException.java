package io.millrace.region;

import org.jspecify.annotations.Nullable;

/** The region cannot be made or used as configured; the message names the path, the hint the remedy. */
public final class RegionException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String hint;

    RegionException(String message, String hint, @Nullable Throwable cause) {
        super(message, cause);
        this.hint = hint;
    }

    /** What a person can do about it. */
    public String hint() {
        return hint;
    }
}
