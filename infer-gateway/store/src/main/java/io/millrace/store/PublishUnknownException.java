package io.millrace.store;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;

/**
 * A publish whose last step failed in a way that leaves its result unknown: the package may be visible or become so.
 * Publishing the same package again settles it.
 */
public final class PublishUnknownException extends ContractException {
    private static final long serialVersionUID = 1L;

    PublishUnknownException(String message, Throwable cause) {
        super(ErrorCode.STORE_UNAVAILABLE, message, cause);
    }
}
