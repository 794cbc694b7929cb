package io.millrace.gateway.core;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;

/** Who may enter: nobody while the gateway drains, nobody whose time is over. Threads: any. */
final class Admission {
    private volatile boolean draining;

    /** Refuses everything from now on. */
    void drain() {
        draining = true;
    }

    /**
     * Lets a request in.
     *
     * @throws ContractException the reason why not
     */
    void admit(Request request) {
        if (draining) {
            throw new ContractException(ErrorCode.SHUTTING_DOWN, "gateway is shutting down");
        }
        long lateNanos = request.acceptedNanos() - request.deadlineNanos();
        if (lateNanos > 0) {
            throw new ContractException(
                    ErrorCode.DEADLINE_EXCEEDED, "request came after its deadline: lateNanos=" + lateNanos);
        }
        if (request.kind().hasRows() && request.rowCount() == 0) {
            throw new ContractException(ErrorCode.EMPTY_BATCH, "request must have rows: rowCount=0");
        }
    }
}
