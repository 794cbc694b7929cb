package io.millrace.gateway.profile;

/** A profile that cannot be had, with the HTTP status that says so. */
final class ProfileException extends RuntimeException {
    static final int BAD_REQUEST = 400;
    static final int FORBIDDEN = 403;
    static final int NOT_FOUND = 404;
    static final int METHOD_NOT_ALLOWED = 405;
    static final int INTERNAL = 500;
    static final int UNAVAILABLE = 503;

    private static final long serialVersionUID = 1;

    private final int status;

    ProfileException(int status, String message) {
        super(message);
        this.status = status;
    }

    ProfileException(int status, String message, Throwable cause) {
        super(message, cause);
        this.status = status;
    }

    int status() {
        return status;
    }
}
