package io.millrace.region;

import io.millrace.contract.layout.ControlLayout;
import io.millrace.contract.layout.Sleeper;
import io.millrace.contract.layout.SlotLayout;
import io.millrace.contract.layout.SlotState;
import java.nio.ByteBuffer;
import java.util.function.IntFunction;
import net.openhft.chronicle.core.Memory;
import net.openhft.chronicle.core.OS;

/*
 * The gateway's half of the life of a slot.
 *
 *      backend:  FREE -> CLAIMED -> SUBMITTED            DONE -> FREE
 *      gateway:                     SUBMITTED -> RUNNING -> DONE
 *      backend gives up:  CLAIMED, SUBMITTED, DONE -> FREE;  RUNNING -> ABANDONED
 *      gateway, for a dead owner: the same two;  and ABANDONED -> FREE when its work ends
 *
 * The state word (generation, owner pid, state) is the only authority, and every move is a compare-and-set of all of
 * it. So a move either happens to exactly the use of the slot that the caller saw, or does not happen: an answer that
 * comes late finds another generation and is dropped. Fields of a line belong to whoever the state names: the backend
 * in CLAIMED and DONE, the gateway in RUNNING and ABANDONED. They are written before the move that gives them away,
 * and the compare-and-set orders them.
 *
 * Ready bits are hints. A backend sets its bit after SUBMITTED; a bit whose slot is in another state is stale and is
 * skipped. A slot is therefore found at least once, never lost, and taken once because of the compare-and-set.
 */
/**
 * Slots as the gateway sees them: take, answer, give back.
 *
 * <p>Threads: {@link #takeReady} from one thread; every other method from any. No method may be called after the
 * region is closed.
 */
public final class SlotTable {
    /** What became of a slot whose owner is gone. */
    public enum Reclaimed {
        /** It is free again. */
        FREED,
        /** The gateway works on it and frees it when done. */
        ABANDONED,
        /** It moved meanwhile, or there was nothing to do. */
        UNCHANGED
    }

    private static final Memory MEMORY = OS.memory();

    private final long[] lines;
    private final long ready;
    private final IntFunction<ByteBuffer> requestSlabs;
    private final IntFunction<ByteBuffer> responseSlabs;

    SlotTable(RegionMaps maps) {
        this(maps.lineAddresses(), maps.readyAddress(), maps::requestSlab, maps::responseSlab);
    }

    /** Slots at addresses: the lines', and that of the ready bitmap. */
    SlotTable(long[] lines, long ready, IntFunction<ByteBuffer> requestSlabs, IntFunction<ByteBuffer> responseSlabs) {
        this.lines = lines;
        this.ready = ready;
        this.requestSlabs = requestSlabs;
        this.responseSlabs = responseSlabs;
    }

    public int slotCount() {
        return lines.length;
    }

    /** Whether some backend announced a slot since the last {@link #takeReady}. */
    public boolean hasReady() {
        for (int word = 0; word < ControlLayout.READY_WORD_COUNT; word++) {
            if (MEMORY.readVolatileLong(ready + word * 8L) != 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Moves announced slots from SUBMITTED to RUNNING.
     *
     * @param slots receives their indexes, at least {@link #slotCount} long
     * @param words receives their state words, which every later move asks for
     * @return how many
     */
    public int takeReady(int[] slots, long[] words) {
        int count = 0;
        for (int word = 0; word < ControlLayout.READY_WORD_COUNT; word++) {
            long bits = drain(ready + word * 8L);
            while (bits != 0) {
                int slotIndex = (word << 6) + Long.numberOfTrailingZeros(bits);
                bits &= bits - 1;
                long stateWord = stateWord(slotIndex);
                if (take(slotIndex, stateWord)) {
                    slots[count] = slotIndex;
                    words[count++] = SlotLayout.withState(stateWord, SlotState.RUNNING);
                }
            }
        }
        return count;
    }

    private static long drain(long address) {
        while (true) {
            long bits = MEMORY.readVolatileLong(address);
            if (bits == 0 || MEMORY.compareAndSwapLong(address, bits, 0L)) {
                return bits;
            }
        }
    }

    /**
     * SUBMITTED to RUNNING.
     *
     * @return whether the slot still was as {@code stateWord} says and may be taken
     */
    public boolean take(int slotIndex, long stateWord) {
        return move(slotIndex, stateWord, SlotState.SUBMITTED, SlotState.RUNNING);
    }

    /**
     * RUNNING to DONE, after the response is in its slab; or ABANDONED to FREE when the backend gave up meanwhile.
     *
     * @param runningWord as {@link #takeReady} gave it
     * @param responseLength bytes in the response slab
     * @param status code of an error, 0 for none
     * @param doneNanos CLOCK_MONOTONIC
     * @return whether the backend waits for it; if so, {@link #wakeOwner}
     */
    public boolean finish(int slotIndex, long runningWord, int responseLength, int status, long doneNanos) {
        long line = lines[slotIndex];
        MEMORY.writeInt(line + SlotLayout.RESPONSE_LENGTH_OFFSET, responseLength);
        MEMORY.writeInt(line + SlotLayout.STATUS_OFFSET, status);
        MEMORY.writeLong(line + SlotLayout.DONE_OFFSET, doneNanos);
        if (move(slotIndex, runningWord, SlotState.RUNNING, SlotState.DONE)) {
            return true;
        }
        move(slotIndex, SlotLayout.withState(runningWord, SlotState.ABANDONED), SlotState.ABANDONED, SlotState.FREE);
        return false;
    }

    /** Whether the backend still waits for a slot taken with {@code runningWord}. */
    public boolean isWanted(int slotIndex, long runningWord) {
        return stateWord(slotIndex) == runningWord;
    }

    /**
     * Takes a slot from an owner that is gone: CLAIMED, SUBMITTED and DONE to FREE, RUNNING to ABANDONED.
     *
     * @param stateWord as read when the owner was found dead
     */
    public Reclaimed reclaim(int slotIndex, long stateWord) {
        SlotState state = SlotLayout.state(stateWord);
        return switch (state) {
            case CLAIMED, SUBMITTED, DONE ->
                move(slotIndex, stateWord, state, SlotState.FREE) ? Reclaimed.FREED : Reclaimed.UNCHANGED;
            case RUNNING ->
                move(slotIndex, stateWord, state, SlotState.ABANDONED) ? Reclaimed.ABANDONED : Reclaimed.UNCHANGED;
            case FREE, ABANDONED -> Reclaimed.UNCHANGED;
        };
    }

    private boolean move(int slotIndex, long stateWord, SlotState from, SlotState to) {
        assert from.mayBecome(to) : from + " to " + to;
        return SlotLayout.stateCode(stateWord) == from.code()
                && MEMORY.compareAndSwapLong(
                        lines[slotIndex] + SlotLayout.STATE_OFFSET, stateWord, SlotLayout.withState(stateWord, to));
    }

    /** The state word now. */
    public long stateWord(int slotIndex) {
        return MEMORY.readVolatileLong(lines[slotIndex] + SlotLayout.STATE_OFFSET);
    }

    /**
     * Wakes the backend if it sleeps at its slot's line; call it after {@link #finish}. The slot may have its next owner by
     * then, who is woken for nothing and sleeps again.
     *
     * @return whether it sleeps at its doorbell instead and must be rung
     */
    public boolean wakeOwner(int slotIndex) {
        long waiter = lines[slotIndex] + SlotLayout.WAITER_OFFSET;
        int where = MEMORY.readVolatileInt(waiter);
        if (where != Sleeper.AT_WORD || !Futex.isSupported()) {
            return where != Sleeper.AWAKE;
        }
        // Changed first: who is about to sleep at it does not, and who sleeps finds out why it was woken.
        if (MEMORY.compareAndSwapInt(waiter, Sleeper.AT_WORD, Sleeper.AWAKE)) {
            Futex.wakeOne(waiter);
            return false;
        }
        return MEMORY.readVolatileInt(waiter) == Sleeper.AT_DOORBELL;
    }

    /** Code of a request kind, as the backend wrote it. */
    public int kind(int slotIndex) {
        return MEMORY.readInt(lines[slotIndex] + SlotLayout.KIND_OFFSET);
    }

    public long modelKey(int slotIndex) {
        return MEMORY.readLong(lines[slotIndex] + SlotLayout.MODEL_KEY_OFFSET);
    }

    public long requestId(int slotIndex) {
        return MEMORY.readLong(lines[slotIndex] + SlotLayout.REQUEST_ID_OFFSET);
    }

    /** Nanoseconds of CLOCK_MONOTONIC. */
    public long deadlineNanos(int slotIndex) {
        return MEMORY.readLong(lines[slotIndex] + SlotLayout.DEADLINE_OFFSET);
    }

    /** Bytes of the request, as the backend wrote it: not checked against the slab. */
    public int requestLength(int slotIndex) {
        return MEMORY.readInt(lines[slotIndex] + SlotLayout.REQUEST_LENGTH_OFFSET);
    }

    public int connectionId(int slotIndex) {
        return MEMORY.readInt(lines[slotIndex] + SlotLayout.CONNECTION_ID_OFFSET);
    }

    /** Big-endian first half of the trace id. */
    public long traceIdHigh(int slotIndex) {
        return Long.reverseBytes(MEMORY.readLong(lines[slotIndex] + SlotLayout.TRACE_ID_OFFSET));
    }

    /** Big-endian second half of the trace id. */
    public long traceIdLow(int slotIndex) {
        return Long.reverseBytes(MEMORY.readLong(lines[slotIndex] + SlotLayout.TRACE_ID_OFFSET + 8));
    }

    /** Big-endian span id of the caller; 0 when it has none. */
    public long spanId(int slotIndex) {
        return Long.reverseBytes(MEMORY.readLong(lines[slotIndex] + SlotLayout.SPAN_ID_OFFSET));
    }

    /** Whether the caller records its part of the trace. */
    public boolean isTraceSampled(int slotIndex) {
        return (MEMORY.readInt(lines[slotIndex] + SlotLayout.TRACE_FLAGS_OFFSET) & SlotLayout.TRACE_SAMPLED) != 0;
    }

    /** Nanoseconds of CLOCK_MONOTONIC. */
    public long submittedNanos(int slotIndex) {
        return MEMORY.readLong(lines[slotIndex] + SlotLayout.SUBMITTED_OFFSET);
    }

    /** Start time of the owner in clock ticks since boot. */
    public long ownerStart(int slotIndex) {
        return MEMORY.readLong(lines[slotIndex] + SlotLayout.OWNER_START_OFFSET);
    }

    /** Records when a running slot was taken; nanoseconds of CLOCK_MONOTONIC. */
    public void recordTaken(int slotIndex, long nanos) {
        MEMORY.writeLong(lines[slotIndex] + SlotLayout.TAKEN_OFFSET, nanos);
    }

    /** The slab of a slot, little-endian, {@link SlotLayout#SLAB_LENGTH} bytes; use absolute reads only. */
    public ByteBuffer requestSlab(int slotIndex) {
        return requestSlabs.apply(slotIndex);
    }

    /** As {@link #requestSlab}, for the response. */
    public ByteBuffer responseSlab(int slotIndex) {
        return responseSlabs.apply(slotIndex);
    }

    /** Counts the slots by state. */
    public SlotCensus census() {
        int[] counts = new int[SlotState.values().length];
        int unknown = 0;
        for (int slotIndex = 0; slotIndex < lines.length; slotIndex++) {
            int code = SlotLayout.stateCode(stateWord(slotIndex));
            if (code < counts.length) {
                counts[code]++;
            } else {
                unknown++;
            }
        }
        return new SlotCensus(counts, unknown);
    }
}
