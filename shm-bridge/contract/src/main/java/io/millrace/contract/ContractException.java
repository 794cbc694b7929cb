package io.millrace.contract;

/** The one exception of this module: a value from another process or a person breaks a rule of the contract. */
public class ContractException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;

    /**
     * A broken rule.
     *
     * @param code never {@link ErrorCode#OK}
     * @param message {@code <noun> <is / must / cannot ...>: name=value}; no row values, no secrets
     */
    public ContractException(ErrorCode code, String message) {
        super(message);
        this.code = code;
    }

    /** As above, with the failure below it. */
    public ContractException(ErrorCode code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /** What went wrong, as it crosses the slot. */
    public ErrorCode code() {
        return code;
    }
}
