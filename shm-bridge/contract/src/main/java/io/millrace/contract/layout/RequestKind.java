package io.millrace.contract.layout;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;

/** What a slot asks of the gateway. */
public enum RequestKind {
    /** One number per row: regression value, probability of the positive label, or class index. */
    PREDICT(1),
    /** The probability of every class. */
    PROBA(2),
    /** The label as text. */
    CLASS(3),
    /** The vector the model would see. */
    PREPROCESS(4),
    /** Prediction, label and probabilities in one answer. */
    FULL(5),
    /** Load, verify and warm a model. */
    LOAD(6),
    /** How the gateway is. */
    STATUS(7),
    /** The same bytes back: the bridge alone, for tests and benchmarks. */
    ECHO(8),
    /** Take a model file from elsewhere into the store: the rows area holds an import request. */
    IMPORT(9),
    /** Every metric of the gateway. */
    METRICS(10);

    private static final RequestKind[] BY_CODE = new RequestKind[11];

    static {
        for (RequestKind kind : values()) {
            BY_CODE[kind.code] = kind;
        }
    }

    private final int code;

    RequestKind(int code) {
        this.code = code;
    }

    /** The number in the slot line. */
    public int code() {
        return code;
    }

    /** Whether its rows area holds rows of a descriptor, answered by a model. */
    public boolean hasRows() {
        return code <= FULL.code;
    }

    /**
     * The kind with a code.
     *
     * @param code as read from a slot line
     * @throws ContractException {@link ErrorCode#UNSUPPORTED_KIND} if no kind has the code
     */
    public static RequestKind of(int code) {
        if (code <= 0 || code >= BY_CODE.length) {
            throw new ContractException(ErrorCode.UNSUPPORTED_KIND, "request kind is unknown: kind=" + code);
        }
        return BY_CODE[code];
    }
}
