package io.millrace.gateway.core;

import io.millrace.contract.ErrorCode;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the log why requests fail, a few times a second per code, so that a flood of failures is no flood of lines. What
 * is the caller's own fault, or a question of the protocol, is told at debug level only. Threads: any.
 */
final class FailureLog {
    private static final Logger log = LoggerFactory.getLogger(FailureLog.class);

    private final LongSupplier clock;
    private final Map<ErrorCode, LogBudget> budgets = new EnumMap<>(ErrorCode.class);

    FailureLog(LongSupplier clock) {
        this.clock = clock;
    }

    /** A request failed; {@code message} holds no values of rows. */
    void failed(ErrorCode code, String message, String traceId) {
        boolean quiet = code.code() < ErrorCode.INTERNAL_BASE
                || code == ErrorCode.NEED_MODEL
                || code == ErrorCode.NEED_DESCRIPTOR
                || code == ErrorCode.SHUTTING_DOWN;
        if (quiet) {
            log.atDebug().addKeyValue("trace-id", traceId).log("request fails: code={}, reason={}", code, message);
            return;
        }
        int suppressed = admit(code);
        if (suppressed >= 0) {
            log.atWarn()
                    .addKeyValue("trace-id", traceId)
                    .log("request fails: code={}, reason={}, suppressed={}", code, message, suppressed);
        }
    }

    /** As {@link LogBudget#admit}. */
    synchronized int admit(ErrorCode code) {
        return budgets.computeIfAbsent(code, unseen -> new LogBudget(clock)).admit();
    }
}
