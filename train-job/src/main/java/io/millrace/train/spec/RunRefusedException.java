package io.millrace.train.spec;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.util.Objects;

/**
 * A run cannot succeed however often it is tried. The message begins with {@link #PREFIX}: of an exception inside a Flink
 * job only the message of the innermost cause reaches the dispatcher, so this one never has a cause.
 */
public final class RunRefusedException extends RuntimeException {
    /** Begins every message. */
    public static final String PREFIX = "run is refused: ";

    private static final long serialVersionUID = 1L;

    /** @param reason why, with the numbers that decided */
    public RunRefusedException(String reason) {
        super(PREFIX + reason);
    }

    /** A failure as it is to be thrown: refused if what was asked for is to blame for it, else unchanged. */
    public static RuntimeException of(ContractException failure) {
        return failure.code().code() < ErrorCode.INTERNAL_BASE
                ? new RunRefusedException(
                        Objects.toString(failure.getMessage(), failure.code().name()))
                : failure;
    }

    /** Whether a message is one of this exception's, by itself or inside another one. */
    public static boolean isRefusal(String message) {
        return message.contains(PREFIX);
    }

    /** The reason inside such a message; any other message as it is. */
    public static String reason(String message) {
        int start = message.indexOf(PREFIX);
        return start < 0 ? message : message.substring(start + PREFIX.length());
    }
}
