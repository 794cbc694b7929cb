package io.millrace.region;

import io.millrace.contract.layout.ControlLayout;
import io.millrace.contract.layout.Sleeper;
import net.openhft.chronicle.core.Memory;
import net.openhft.chronicle.core.OS;

/** What every backend reads before it trusts the gateway: state, heartbeat, and whether the gateway must be rung. */
final class ControlLine {
    private static final Memory MEMORY = OS.memory();

    private final long address;

    /** Writes the line of a new generation, in state draining: nobody is served before {@link #state}. */
    ControlLine(long address, long generation) {
        this.address = address;
        MEMORY.writeLong(address + ControlLayout.MAGIC_OFFSET, ControlLayout.MAGIC);
        MEMORY.writeLong(address + ControlLayout.GENERATION_OFFSET, generation);
        MEMORY.writeLong(
                address + ControlLayout.GATEWAY_PID_OFFSET,
                ProcessHandle.current().pid());
        MEMORY.writeVolatileInt(address + ControlLayout.STATE_OFFSET, ControlLayout.DRAINING);
        beat(System.nanoTime());
        MEMORY.writeVolatileInt(address + ControlLayout.VERSION_OFFSET, ControlLayout.VERSION);
    }

    void state(int state) {
        MEMORY.writeVolatileInt(address + ControlLayout.STATE_OFFSET, state);
    }

    int state() {
        return MEMORY.readVolatileInt(address + ControlLayout.STATE_OFFSET);
    }

    void beat(long nanos) {
        MEMORY.writeVolatileLong(address + ControlLayout.HEARTBEAT_OFFSET, nanos);
    }

    long heartbeatNanos() {
        return MEMORY.readVolatileLong(address + ControlLayout.HEARTBEAT_OFFSET);
    }

    /** Announces sleep at a place, a {@link Sleeper}; the caller looks for work once more before it sleeps. */
    void fallAsleep(int place) {
        // An atomic swap, since a plain volatile store may be seen after the look that follows it.
        MEMORY.getAndSetInt(sleeping(), place);
    }

    /** Sleeps, after {@link #fallAsleep} at the word, until woken or for 5 ms. */
    void sleepAtWord() {
        Futex.await(sleeping(), Sleeper.AT_WORD);
    }

    void wakeUp() {
        MEMORY.writeVolatileInt(sleeping(), Sleeper.AWAKE);
    }

    /** Ends a sleep at the word, of another thread. */
    void wakeAtWord() {
        if (MEMORY.compareAndSwapInt(sleeping(), Sleeper.AT_WORD, Sleeper.AWAKE)) {
            Futex.wakeOne(sleeping());
        }
    }

    private long sleeping() {
        return address + ControlLayout.SLEEPING_OFFSET;
    }
}
