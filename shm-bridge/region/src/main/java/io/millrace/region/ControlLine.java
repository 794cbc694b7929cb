package io.millrace.region;

import io.millrace.contract.layout.ControlLayout;
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

    /** Announces sleep; the caller looks for work once more before it sleeps. */
    void fallAsleep() {
        // An atomic swap, since a plain volatile store may be seen after the look that follows it.
        MEMORY.getAndSetInt(address + ControlLayout.SLEEPING_OFFSET, 1);
    }

    void wakeUp() {
        MEMORY.writeVolatileInt(address + ControlLayout.SLEEPING_OFFSET, 0);
    }
}
