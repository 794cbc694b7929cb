package io.millrace.lake.column;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/*
 * Contents of delete files, for the whole process. The streaming job writes one small delete file per checkpoint, each of which applies
 * to every older data file: without a cache a scan of F data files opens each of D delete files F times. Delete files never change and
 * their names are never used again, so an entry is right for ever and the least recently used one is dropped for space alone.
 */
final class DeleteCache {
    static final long HELD_BYTES_MAX = 64L << 20;

    /** Larger contents are read each time: one of them would drop all others. */
    static final long ENTRY_BYTES_MAX = HELD_BYTES_MAX / 4;

    private static final DeleteCache SHARED = new DeleteCache();

    private final Map<String, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);
    private long heldBytes;

    private record Entry(Object value, long bytes) {}

    static DeleteCache shared() {
        return SHARED;
    }

    /** The value of a key, loaded when it is not held. Two threads may load the same one; they get equal values. */
    @SuppressWarnings("unchecked") // a key is only ever used with one type
    <V> V get(String key, Supplier<V> load, ToLongFunction<V> bytes) {
        synchronized (this) {
            Entry held = entries.get(key);
            if (held != null) {
                return (V) held.value();
            }
        }
        V value = load.get();
        hold(key, new Entry(value, bytes.applyAsLong(value)));
        return value;
    }

    /** Bytes held, as the callers count them. */
    synchronized long heldBytes() {
        return heldBytes;
    }

    private synchronized void hold(String key, Entry entry) {
        if (entry.bytes() > ENTRY_BYTES_MAX) {
            return;
        }
        Entry before = entries.put(key, entry);
        heldBytes += entry.bytes() - (before == null ? 0 : before.bytes());
        var eldest = entries.entrySet().iterator();
        while (heldBytes > HELD_BYTES_MAX) {
            heldBytes -= eldest.next().getValue().bytes();
            eldest.remove();
        }
    }
}
