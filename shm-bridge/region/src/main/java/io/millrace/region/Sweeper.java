package io.millrace.region;

import io.millrace.contract.layout.SlotLayout;
import io.millrace.contract.layout.SlotState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Returns the slots of owners that died without their connection telling.
 *
 * A connection's end of file frees its slots at once, so this is the fallback: a backend killed between claiming a slot
 * and writing its connection id, or killed while the gateway was starting. Such a slot shows the same word in two
 * sweeps, which also keeps the sweeper from reading the fields of a slot that was claimed a moment ago and still holds
 * its previous owner's connection id and start time.
 */
/** Frees slots of dead owners and removes payloads that nobody will read. Threads: one caller. */
public final class Sweeper {
    private static final Logger log = LoggerFactory.getLogger(Sweeper.class);

    /** Which doorbell connections live. */
    interface Connections {
        boolean isOpen(int connectionId);
    }

    private final SlotTable slots;
    private final PayloadFiles payloads;
    private final Connections connections;
    private final OwnerProbe probe;
    private final long[] lastWords;
    private long reclaimedCount;

    Sweeper(SlotTable slots, PayloadFiles payloads, Connections connections, OwnerProbe probe) {
        this.slots = slots;
        this.payloads = payloads;
        this.connections = connections;
        this.probe = probe;
        this.lastWords = new long[slots.slotCount()];
    }

    /**
     * Looks at every slot once, and at the payloads they left.
     *
     * @return how many slots it took from dead owners
     */
    public int sweep() {
        int reclaimed = 0;
        for (int slotIndex = 0; slotIndex < slots.slotCount(); slotIndex++) {
            long word = slots.stateWord(slotIndex);
            boolean settled = word == lastWords[slotIndex];
            lastWords[slotIndex] = word;
            if (settled && isOwned(word) && isOrphan(slotIndex, word)) {
                reclaimed += reclaim(slotIndex, word);
            }
        }
        reclaimedCount += reclaimed;
        payloads.sweep();
        return reclaimed;
    }

    /** Slots taken from dead owners since the start. */
    public long reclaimedCount() {
        return reclaimedCount;
    }

    private static boolean isOwned(long word) {
        int code = SlotLayout.stateCode(word);
        return code >= SlotState.CLAIMED.code() && code <= SlotState.DONE.code();
    }

    private boolean isOrphan(int slotIndex, long word) {
        boolean claimed = SlotLayout.stateCode(word) == SlotState.CLAIMED.code();
        // While claimed, the connection id may be the previous owner's.
        if (!claimed && connections.isOpen(slots.connectionId(slotIndex))) {
            return false;
        }
        long start = probe.startTicks(SlotLayout.ownerPid(word));
        if (start == OwnerProbe.GONE) {
            return true;
        }
        long ownerStart = slots.ownerStart(slotIndex);
        return !claimed && start != OwnerProbe.UNKNOWN && ownerStart != 0 && start != ownerStart;
    }

    private int reclaim(int slotIndex, long word) {
        SlotTable.Reclaimed result = slots.reclaim(slotIndex, word);
        if (result == SlotTable.Reclaimed.UNCHANGED) {
            return 0;
        }
        log.warn(
                "slot of a dead owner is taken back: slotIndex={}, state={}, pid={}, result={}",
                slotIndex,
                SlotLayout.state(word),
                SlotLayout.ownerPid(word),
                result);
        return 1;
    }
}
