package io.millrace.gateway.core;

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
        @Nullable WaitingLine line) {}
