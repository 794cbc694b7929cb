package io.millrace.gateway.core;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.RequestLimits;
import org.jspecify.annotations.Nullable;

/**
 * Who may enter: nobody while the gateway drains, nobody whose time is over, and no more than the limits of the project
 * and of the gateway allow. Threads: any.
 */
final class Admission {
    private final @Nullable Allowance gateway;
    private final Tenants tenants = new Tenants();
    private volatile boolean draining;

    /**
     * Admission to a gateway.
     *
     * @param limits of all requests together
     */
    Admission(RequestLimits limits, long nowNanos) {
        gateway = limits.isEmpty() ? null : new Allowance(new LimitScope(nowNanos), limits, null);
    }

    /** Refuses everything from now on. */
    void drain() {
        draining = true;
    }

    /**
     * Refuses what cannot be served, whatever the limits.
     *
     * @throws ContractException the reason why not
     */
    void check(Request request) {
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

    /** Whether {@link #take} has anything to say; most requests have no limits and pass. */
    boolean isLimited(Request request) {
        return (request.limits() != 0 || gateway != null) && request.kind().hasRows();
    }

    /**
     * Takes what a request needs of its limits.
     *
     * @param inTurn whether it has waited in line
     * @return null when it may go on; {@link #leave} must follow then
     * @throws ContractException as {@link Tenants#find}
     */
    @Nullable
    Refusal take(Request request, long nowNanos, boolean inTurn) {
        Allowance project = request.limits() == 0 ? null : tenants.find(request);
        if (project != null) {
            Refusal refusal = project.take(request.rowCount(), nowNanos, inTurn);
            if (refusal != null) {
                return refusal;
            }
        }
        if (gateway != null) {
            Refusal refusal = gateway.take(request.rowCount(), nowNanos, inTurn);
            if (refusal != null) {
                if (project != null) {
                    project.leave(request.rowCount(), true);
                }
                return refusal;
            }
        }
        request.projectAllowance = project;
        request.gatewayAllowance = gateway;
        return null;
    }

    /**
     * A request ended that had taken something.
     *
     * @return whether somebody waits for what it gave back
     */
    static boolean leave(Request request, ErrorCode code) {
        // Asked again, or refused for want of room: nothing was done for it.
        boolean unused =
                code == ErrorCode.NEED_MODEL || code == ErrorCode.NEED_DESCRIPTOR || code == ErrorCode.QUEUE_FULL;
        boolean waited = leave(request.projectAllowance, request.rowCount(), unused);
        waited |= leave(request.gatewayAllowance, request.rowCount(), unused);
        request.projectAllowance = null;
        request.gatewayAllowance = null;
        return waited;
    }

    private static boolean leave(@Nullable Allowance allowance, int rowCount, boolean unused) {
        if (allowance == null) {
            return false;
        }
        allowance.leave(rowCount, unused);
        return allowance.scope().line.isBusy();
    }

    /** Projects with limits that are known. */
    int tenantCount() {
        return tenants.count();
    }
}
