package io.millrace.region;

import io.millrace.contract.layout.SlotLayout;
import io.millrace.contract.layout.SlotState;

/**
 * How many slots are in each state at one moment.
 *
 * <p>Counted slot by slot without stopping anybody, so it is exact only for a region at rest.
 */
public final class SlotCensus {
    private final int[] counts;
    private final int unknownCount;

    SlotCensus(int[] counts, int unknownCount) {
        this.counts = counts;
        this.unknownCount = unknownCount;
    }

    public int count(SlotState state) {
        return counts[state.code()];
    }

    /** Slots with a state code that no version defines; anything but 0 is corruption. */
    public int unknownCount() {
        return unknownCount;
    }

    /** Slots that somebody uses. */
    public int usedCount() {
        int used = 0;
        for (SlotState state : SlotState.values()) {
            used += state == SlotState.FREE ? 0 : count(state);
        }
        return used;
    }

    /**
     * Checks that free and used slots make up the region.
     *
     * @throws IllegalStateException if some slot is in no known state
     */
    public void validate() {
        if (count(SlotState.FREE) + usedCount() != SlotLayout.SLOT_COUNT || unknownCount != 0) {
            throw new IllegalStateException("free and used slots must make up the region: free="
                    + count(SlotState.FREE) + ", used=" + usedCount() + ", unknown=" + unknownCount + ", slotCount="
                    + SlotLayout.SLOT_COUNT);
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (SlotState state : SlotState.values()) {
            text.append(state).append('=').append(count(state)).append(' ');
        }
        return text.append("unknown=").append(unknownCount).toString();
    }
}
