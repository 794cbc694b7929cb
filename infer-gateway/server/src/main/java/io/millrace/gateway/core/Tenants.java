package io.millrace.gateway.core;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ModelReference;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/*
 * The database is the authority on limits, and each request names the ones that its session sees. What a name stands
 * for comes once, with a model reference, from whoever is asked first. So a change reaches everybody with the commit, a
 * change that is rolled back was only ever named by the transaction that made it, and the counters outlive both.
 */
/** Projects that have limits, as requests name them. Threads: any. */
final class Tenants {
    /** Versions of the limits of one project that are known at a time: those in use, and those of old snapshots. */
    private static final int VERSIONS_MAX = 4;

    private static final int TENANTS_MAX = 1 << 14;

    private final ConcurrentHashMap<Long, Tenant> tenants = new ConcurrentHashMap<>();

    private record Version(long name, Allowance allowance) {}

    private static final class Tenant {
        private final LimitScope scope;
        private volatile Version[] versions = {};

        private Tenant(LimitScope scope) {
            this.scope = scope;
        }

        private @Nullable Allowance find(long name) {
            for (Version version : versions) {
                if (version.name() == name) {
                    return version.allowance();
                }
            }
            return null;
        }

        private synchronized Allowance learn(long name, ModelReference reference) {
            Allowance known = find(name);
            if (known != null) {
                return known;
            }
            Version[] old = versions;
            Version[] learned = new Version[Math.min(VERSIONS_MAX, old.length + 1)];
            Allowance allowance = new Allowance(scope, reference.limits(), reference.project());
            learned[0] = new Version(name, allowance);
            System.arraycopy(old, 0, learned, 1, learned.length - 1);
            versions = learned;
            return allowance;
        }
    }

    /**
     * The limits that a request names.
     *
     * @throws ContractException {@link ErrorCode#NEED_MODEL} if the name is not known and the request does not bring
     *     the reference, {@link ErrorCode#INVALID_ENVELOPE} if it brings other limits than it names
     */
    Allowance find(Request request) {
        Tenant tenant = tenants.get(request.tenantKey());
        Allowance known = tenant == null ? null : tenant.find(request.limits());
        if (known != null) {
            return known;
        }
        ModelReference reference = request.reference();
        if (reference == null) {
            throw new ContractException(
                    ErrorCode.NEED_MODEL,
                    "limits of the project are not known: tenantKey=" + Long.toHexString(request.tenantKey())
                            + ", limits=" + Long.toHexString(request.limits()));
        }
        long sent = reference.limits().fingerprint();
        if (sent != request.limits()) {
            throw new ContractException(
                    ErrorCode.INVALID_ENVELOPE,
                    "request must bring the limits it names: limits=" + Long.toHexString(request.limits()) + ", sent="
                            + Long.toHexString(sent));
        }
        if (tenant == null) {
            makeRoom(request.acceptedNanos());
            tenant = tenants.computeIfAbsent(
                    request.tenantKey(), unseen -> new Tenant(new LimitScope(request.acceptedNanos())));
        }
        return tenant.learn(request.limits(), reference);
    }

    /** Projects that rest are as good as never seen, so the number that stays is bounded by what is going on. */
    private void makeRoom(long nowNanos) {
        if (tenants.size() >= TENANTS_MAX) {
            tenants.values().removeIf(tenant -> tenant.scope.isIdle(nowNanos));
        }
    }

    /** How many are known. */
    int count() {
        return tenants.size();
    }
}
