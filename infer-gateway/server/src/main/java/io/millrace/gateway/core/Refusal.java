package io.millrace.gateway.core;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import org.jspecify.annotations.Nullable;

/**
 * Why a request cannot go on now.
 *
 * @param reason for the metrics
 * @param line where it may wait for its turn; null when it is refused at once
 */
record Refusal(
        ErrorCode code,
        String reason,
        String message,
        String hint,
        @Nullable WaitingLine line) {
    /** For good, whatever the limits say. */
    static Refusal of(ContractException failure) {
        ErrorCode code = failure.code();
        return new Refusal(
                code, Observer.reason(code), String.valueOf(failure.getMessage()), Settlement.hint(code), null);
    }

    /** Whether it is a refusal to the caller's eyes, and no question of the protocol. */
    boolean isFinal() {
        return code != ErrorCode.NEED_MODEL;
    }
}
