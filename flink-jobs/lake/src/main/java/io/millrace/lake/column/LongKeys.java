package io.millrace.lake.column;

/** A set of longs: open addressing, at most half full, nothing is ever removed. */
final class LongKeys {
    private long[] slots = new long[64];
    private boolean[] used = new boolean[64];
    private int size;

    void add(long key) {
        if (2 * (size + 1) > slots.length) {
            grow();
        }
        insert(key);
    }

    boolean contains(long key) {
        int mask = slots.length - 1;
        for (int i = spread(key) & mask; used[i]; i = (i + 1) & mask) {
            if (slots[i] == key) {
                return true;
            }
        }
        return false;
    }

    int size() {
        return size;
    }

    private void insert(long key) {
        int mask = slots.length - 1;
        int i = spread(key) & mask;
        while (used[i]) {
            if (slots[i] == key) {
                return;
            }
            i = (i + 1) & mask;
        }
        used[i] = true;
        slots[i] = key;
        size++;
    }

    private void grow() {
        long[] oldSlots = slots;
        boolean[] oldUsed = used;
        slots = new long[Math.multiplyExact(oldSlots.length, 2)];
        used = new boolean[slots.length];
        size = 0;
        for (int i = 0; i < oldSlots.length; i++) {
            if (oldUsed[i]) {
                insert(oldSlots[i]);
            }
        }
    }

    private static int spread(long key) {
        long hash = key * 0x9E3779B97F4A7C15L;
        return (int) (hash >>> 32);
    }
}
