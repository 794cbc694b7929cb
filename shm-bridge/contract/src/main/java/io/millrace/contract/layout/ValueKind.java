package io.millrace.contract.layout;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;

/** What one answered row of a response holds. */
public enum ValueKind {
    /** f64. */
    SCALAR(1),
    /** u32 n, then n f64. */
    VECTOR(2),
    /** u32 length, then UTF-8. */
    TEXT(3),
    /** u32 n, then n f32. */
    VECTOR32(4),
    /** f64 prediction, label as text, probabilities as vector. */
    FULL(5),
    /** u32 length, then bytes. */
    BYTES(6);

    private static final ValueKind[] BY_CODE = new ValueKind[7];

    static {
        for (ValueKind kind : values()) {
            BY_CODE[kind.code] = kind;
        }
    }

    private final int code;

    ValueKind(int code) {
        this.code = code;
    }

    /** The number in a response's header. */
    public int code() {
        return code;
    }

    /**
     * The kind with a code.
     *
     * @param code as received
     * @throws ContractException {@link ErrorCode#INVALID_ENVELOPE} if no kind has the code
     */
    public static ValueKind of(int code) {
        if (code <= 0 || code >= BY_CODE.length) {
            throw new ContractException(ErrorCode.INVALID_ENVELOPE, "value kind is unknown: kind=" + code);
        }
        return BY_CODE[code];
    }
}
