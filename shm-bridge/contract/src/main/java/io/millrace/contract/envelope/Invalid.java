package io.millrace.contract.envelope;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.RequestLayout;

/** Checks every decoder makes. */
final class Invalid {
    private Invalid() {}

    static ContractException envelope(String message) {
        return new ContractException(ErrorCode.INVALID_ENVELOPE, message);
    }

    /** Whether {@code length} bytes at {@code offset} are before {@code limit}; offset is already below it. */
    static void checkRemaining(String what, long length, int offset, int limit) {
        if (length < 0 || length > limit - offset) {
            throw envelope(what + " is truncated: length=" + length + ", remaining=" + (limit - offset));
        }
    }

    static void checkVersion(String what, int version) {
        if (version != RequestLayout.VERSION) {
            throw new ContractException(
                    ErrorCode.UNKNOWN_VERSION,
                    what + " version is unknown: version=" + version + ", expectedVersion=" + RequestLayout.VERSION);
        }
    }
}
