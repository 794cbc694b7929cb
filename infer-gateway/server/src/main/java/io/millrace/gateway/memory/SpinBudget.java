package io.millrace.gateway.memory;

/*
 * A lone session sends its next request a few microseconds after its answer (the next row of a query) or some tens (the
 * next statement: on an idle virtual machine to wake the client takes 25 to 35 us, and the session as long again). To wake
 * a sleeping dispatcher for it, and then the session for the answer, takes longer than all the rest. So while requests come
 * one at a time from one session, the dispatcher waits for the next one awake; its answer is then so quick that the session,
 * too, finds it before it sleeps.
 *
 * With several sessions the processor is theirs: there a sleeping or yielding dispatcher finds more requests per look.
 * Awake waits that come to nothing are given up soon, and tried again only after many more requests.
 */
/** How long the dispatcher looks for the next request before it sleeps. Threads: one. */
final class SpinBudget {
    /** Requests in a row of one session that make it a lone one. */
    static final int LONE_MIN = 16;

    /** Vain waits in a row before it gives up. */
    static final int VAIN_MAX = 4;

    /** Requests after which it tries again. */
    static final int PAUSE = 512;

    private final long limitNanos;
    private int connectionId;
    private int lone;
    private int vain;

    SpinBudget(long limitNanos) {
        this.limitNanos = limitNanos;
    }

    /** Some requests were taken at once, the last of them from a session. */
    void taken(int count, int newConnectionId) {
        if (count == 1 && newConnectionId == connectionId) {
            lone++;
        } else {
            lone = 0;
            connectionId = newConnectionId;
        }
    }

    /** Nanoseconds to wait awake now; 0 for none. */
    long nanos() {
        return lone >= LONE_MIN ? limitNanos : 0;
    }

    /** A wait of {@link #nanos} found a request, or was in vain. */
    void waited(boolean found) {
        if (found) {
            vain = 0;
        } else if (++vain >= VAIN_MAX) {
            vain = 0;
            lone = LONE_MIN - PAUSE;
        }
    }
}
