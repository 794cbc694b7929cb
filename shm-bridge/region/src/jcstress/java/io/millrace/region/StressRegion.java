package io.millrace.region;

import io.millrace.contract.layout.ControlLayout;
import io.millrace.contract.layout.SlotLayout;
import io.millrace.contract.layout.Sleeper;
import io.millrace.contract.layout.SlotState;
import java.util.concurrent.atomic.AtomicInteger;
import net.openhft.chronicle.core.Memory;
import net.openhft.chronicle.core.OS;

/*
 * Memory of a region of two slots for each instance, out of a ring that is longer than the number of instances a run holds
 * at a time. The gateway's moves are the real ones; a backend's are those of sql-udfs/src/slot_move.c, in the same order
 * and with the same memory orders or stronger.
 */
/** Two slots with their backends and their gateway; the state that a stress test begins with. */
class StressRegion {
    static final int FIRST_PID = 1;
    static final int SECOND_PID = 2;

    private static final Memory MEMORY = OS.memory();
    private static final int SLOT_COUNT = 2;
    private static final int READY_LENGTH = 128;
    private static final int LENGTH = SLOT_COUNT * SlotLayout.LENGTH + ControlLayout.LENGTH + READY_LENGTH;
    private static final int RING_COUNT = 1 << 16;
    private static final long RING = MEMORY.allocate((long) RING_COUNT * LENGTH);
    private static final AtomicInteger NEXT = new AtomicInteger();

    final SlotTable slots;
    final ControlLine control;
    private final long base;

    StressRegion() {
        base = RING + (long) (NEXT.getAndIncrement() & (RING_COUNT - 1)) * LENGTH;
        MEMORY.setMemory(base, LENGTH, (byte) 0);
        long controlAddress = base + SLOT_COUNT * SlotLayout.LENGTH;
        control = new ControlLine(controlAddress, 1);
        slots = new SlotTable(
                new long[] {line(0), line(1)},
                controlAddress + ControlLayout.LENGTH,
                slab -> {
                    throw new AssertionError("stress tests have no slabs");
                },
                slab -> {
                    throw new AssertionError("stress tests have no slabs");
                });
    }

    private long line(int slotIndex) {
        return base + (long) slotIndex * SlotLayout.LENGTH;
    }

    private long state(int slotIndex) {
        return line(slotIndex) + SlotLayout.STATE_OFFSET;
    }

    /** Puts the first slot in a state of its first use. */
    final long begin(SlotState state) {
        long word = SlotLayout.stateWord(1, FIRST_PID, state);
        MEMORY.writeVolatileLong(state(0), word);
        return word;
    }

    /** FREE to CLAIMED; 0 when it is not free. */
    final long claim(int slotIndex, int pid) {
        long seen = slots.stateWord(slotIndex);
        long claimed = SlotLayout.stateWord(SlotLayout.generation(seen) + 1, pid, SlotState.CLAIMED);
        boolean taken = SlotLayout.stateCode(seen) == SlotState.FREE.code()
                && MEMORY.compareAndSwapLong(state(slotIndex), seen, claimed);
        return taken ? claimed : 0;
    }

    /** What a backend writes into the line before it submits. */
    final void fill(int slotIndex, int requestLength) {
        MEMORY.writeInt(line(slotIndex) + SlotLayout.REQUEST_LENGTH_OFFSET, requestLength);
    }

    /** CLAIMED to SUBMITTED, and the ready bit; whether that happened. */
    final boolean submit(int slotIndex, long claimedWord) {
        if (!MEMORY.compareAndSwapLong(
                state(slotIndex), claimedWord, SlotLayout.withState(claimedWord, SlotState.SUBMITTED))) {
            return false;
        }
        long word = base + SLOT_COUNT * SlotLayout.LENGTH + ControlLayout.LENGTH;
        long bits = MEMORY.readVolatileLong(word);
        while (!MEMORY.compareAndSwapLong(word, bits, bits | 1L << slotIndex)) {
            bits = MEMORY.readVolatileLong(word);
        }
        return true;
    }

    /** Whether a backend that has submitted must wake the dispatcher; it takes the flag down. */
    final boolean mustWake() {
        long sleeping = base + SLOT_COUNT * SlotLayout.LENGTH + ControlLayout.SLEEPING_OFFSET;
        int place = MEMORY.readVolatileInt(sleeping);
        return place != Sleeper.AWAKE && MEMORY.compareAndSwapInt(sleeping, place, Sleeper.AWAKE);
    }

    /** Says that the backend sleeps at its doorbell. */
    final void sleep(int slotIndex) {
        MEMORY.writeVolatileInt(line(slotIndex) + SlotLayout.WAITER_OFFSET, Sleeper.AT_DOORBELL);
    }

    /** Says that the backend sleeps at its slot's line. */
    final void sleepAtLine(int slotIndex) {
        MEMORY.writeVolatileInt(line(slotIndex) + SlotLayout.WAITER_OFFSET, Sleeper.AT_WORD);
    }

    /** Where the backend sleeps. */
    final int waiter(int slotIndex) {
        return MEMORY.readVolatileInt(line(slotIndex) + SlotLayout.WAITER_OFFSET);
    }

    /** Whether the answer to a use of the slot is there. */
    final boolean isDone(int slotIndex, long word) {
        return slots.stateWord(slotIndex) == SlotLayout.withState(word, SlotState.DONE);
    }

    final int responseLength(int slotIndex) {
        return MEMORY.readInt(line(slotIndex) + SlotLayout.RESPONSE_LENGTH_OFFSET);
    }

    /** The backend gives up, or has read its answer. */
    final void release(int slotIndex, long word) {
        long owner = SlotLayout.withState(word, SlotState.FREE);
        while (true) {
            long seen = slots.stateWord(slotIndex);
            SlotState state = SlotLayout.state(seen);
            boolean mine = SlotLayout.withState(seen, SlotState.FREE) == owner;
            if (!mine || state == SlotState.FREE || state == SlotState.ABANDONED) {
                return;
            }
            SlotState next = state == SlotState.RUNNING ? SlotState.ABANDONED : SlotState.FREE;
            if (MEMORY.compareAndSwapLong(state(slotIndex), seen, SlotLayout.withState(seen, next))) {
                return;
            }
        }
    }

    final int stateCode(int slotIndex) {
        return SlotLayout.stateCode(slots.stateWord(slotIndex));
    }

    final int ownerPid(int slotIndex) {
        return SlotLayout.ownerPid(slots.stateWord(slotIndex));
    }
}
