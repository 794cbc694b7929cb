package io.millrace.lake.statistics;

import java.util.Arrays;

/**
 * How often each number occurs, exact, for a column of few distinct numbers; it gives up for good when there are more than {@link
 * #DISTINCT_MAX}.
 */
public final class NumberCounts {
    /** Distinct numbers that are counted. */
    public static final int DISTINCT_MAX = 2_048;

    private static final int SLOTS_MIN = 32;

    // Open addressing, at most half full; a slot with count 0 is free.
    private long[] keys = new long[SLOTS_MIN];
    private long[] counts = new long[SLOTS_MIN];
    private int distinct;
    private boolean overflowed;

    /**
     * Adds a finite number.
     *
     * @return false if there are too many: it is not counted, and what was counted is a part
     */
    public boolean add(double value, long times) {
        if (overflowed) {
            return false;
        }
        long key = key(value);
        int slot = slot(key);
        if (counts[slot] == 0) {
            if (distinct == DISTINCT_MAX) {
                overflowed = true;
                return false;
            }
            distinct++;
            if (2 * distinct > keys.length) {
                grow();
                slot = slot(key);
            }
            keys[slot] = key;
        }
        counts[slot] += times;
        return true;
    }

    /** Adds what another has counted; the other stays as it is. */
    public void merge(NumberCounts other) {
        overflowed |= other.overflowed;
        for (double value : other.values()) {
            add(value, other.count(value));
        }
    }

    /** Whether every number is counted. */
    public boolean isExact() {
        return !overflowed;
    }

    /** Distinct numbers counted. */
    public int distinct() {
        return distinct;
    }

    /** The counted numbers, ascending. */
    public double[] values() {
        double[] values = new double[distinct];
        int next = 0;
        for (int slot = 0; slot < keys.length; slot++) {
            if (counts[slot] != 0) {
                values[next++] = Double.longBitsToDouble(keys[slot]);
            }
        }
        Arrays.sort(values);
        return values;
    }

    /** How often a number was counted. */
    public long count(double value) {
        return counts[slot(key(value))];
    }

    /** Approximate bytes held. */
    public long heldBytes() {
        return 16L * keys.length;
    }

    /** Adding 0 makes -0.0 the 0.0 it equals. */
    private static long key(double value) {
        return Double.doubleToRawLongBits(value + 0.0);
    }

    private int slot(long key) {
        int mask = keys.length - 1;
        int slot = (int) ((key * 0x9E3779B97F4A7C15L) >>> 40) & mask;
        while (counts[slot] != 0 && keys[slot] != key) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private void grow() {
        long[] oldKeys = keys;
        long[] oldCounts = counts;
        keys = new long[2 * oldKeys.length];
        counts = new long[keys.length];
        for (int old = 0; old < oldKeys.length; old++) {
            if (oldCounts[old] != 0) {
                int slot = slot(oldKeys[old]);
                keys[slot] = oldKeys[old];
                counts[slot] = oldCounts[old];
            }
        }
    }
}
