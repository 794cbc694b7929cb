package io.millrace.contract.layout;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;

/** States of a slot and the moves between them; each move is one compare-and-set of the whole state word. */
public enum SlotState {
    /** Nobody's. */
    FREE(0),
    /** A backend writes the request. */
    CLAIMED(1),
    /** The request is complete and waits for the gateway. */
    SUBMITTED(2),
    /** The gateway works on it. */
    RUNNING(3),
    /** The response is complete and waits for the backend. */
    DONE(4),
    /** The backend gave up while the gateway worked; the gateway frees it. */
    ABANDONED(5);

    private static final SlotState[] BY_CODE = values();

    private final int code;

    SlotState(int code) {
        this.code = code;
    }

    /** The low byte of the state word. */
    public int code() {
        return code;
    }

    /** Whether a slot may move from this state to {@code next}. */
    public boolean mayBecome(SlotState next) {
        return switch (this) {
            case FREE -> next == CLAIMED;
            case CLAIMED -> next == SUBMITTED || next == FREE;
            case SUBMITTED -> next == RUNNING || next == FREE;
            case RUNNING -> next == DONE || next == ABANDONED;
            case DONE, ABANDONED -> next == FREE;
        };
    }

    /**
     * The state with a code.
     *
     * @param code low byte of a state word
     * @throws ContractException {@link ErrorCode#CORRUPT_LAYOUT} if no state has the code
     */
    public static SlotState of(int code) {
        if (code < 0 || code >= BY_CODE.length) {
            throw new ContractException(ErrorCode.CORRUPT_LAYOUT, "slot state is unknown: state=" + code);
        }
        return BY_CODE[code];
    }
}
