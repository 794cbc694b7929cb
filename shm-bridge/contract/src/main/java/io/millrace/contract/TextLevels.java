package io.millrace.contract;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A list of distinct texts that answers where one of them is, also for UTF-8 bytes in place, without allocation.
 *
 * <p>Open addressing, at most half full, over a hash of the UTF-8 bytes taken eight at a time. The hash lives and dies
 * with the object: it is written nowhere. Immutable; any thread.
 */
public final class TextLevels {
    /** Order of code points, which is also the order of UTF-8 bytes and of scikit-learn; String's own order is not. */
    public static final Comparator<String> ORDER = (left, right) ->
            Arrays.compareUnsigned(left.getBytes(StandardCharsets.UTF_8), right.getBytes(StandardCharsets.UTF_8));

    private static final long MULTIPLIER = 0x9e37_79b9_7f4a_7c15L;

    private final List<String> levels;
    private final ByteBuffer[] bytes;
    private final long[] hashes;
    private final int[] table;
    private final int mask;

    /**
     * Copies the list.
     *
     * @param levels distinct; their order is their index
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} if a level appears twice
     */
    public TextLevels(List<String> levels) {
        this.levels = List.copyOf(levels);
        int size = Math.max(4, Integer.highestOneBit(Math.max(1, levels.size())) << 2);
        mask = size - 1;
        table = new int[size];
        bytes = new ByteBuffer[levels.size()];
        hashes = new long[levels.size()];
        for (int index = 0; index < bytes.length; index++) {
            bytes[index] = utf8(this.levels.get(index));
            hashes[index] = hash(bytes[index], 0, bytes[index].capacity());
            insert(index);
        }
    }

    private void insert(int index) {
        int found = find(hashes[index], bytes[index], 0, bytes[index].capacity());
        if (found >= 0) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE, "levels must be distinct: first=" + found + ", second=" + index);
        }
        int probe = probe(hashes[index]);
        while (table[probe] != 0) {
            probe = (probe + 1) & mask;
        }
        table[probe] = index + 1;
    }

    /** Whether no two texts have the same UTF-8 bytes. */
    public static boolean areDistinct(List<String> texts) {
        Set<ByteBuffer> distinct = new HashSet<>();
        for (String text : texts) {
            distinct.add(utf8(text));
        }
        return distinct.size() == texts.size();
    }

    /** The texts in order. */
    public List<String> levels() {
        return levels;
    }

    /** How many there are. */
    public int size() {
        return bytes.length;
    }

    /** Index of a text; -1 when it is not in the list. */
    public int indexOf(String text) {
        ByteBuffer wanted = utf8(text);
        return indexOf(wanted, 0, wanted.capacity());
    }

    /**
     * Index of the text whose UTF-8 bytes are {@code length} bytes at an absolute offset; -1 when not in the list.
     *
     * @param buffer little-endian
     */
    public int indexOf(ByteBuffer buffer, int offset, int length) {
        assert buffer.order() == ByteOrder.LITTLE_ENDIAN : buffer.order();
        return find(hash(buffer, offset, length), buffer, offset, length);
    }

    private int find(long hash, ByteBuffer buffer, int offset, int length) {
        for (int probe = probe(hash); table[probe] != 0; probe = (probe + 1) & mask) {
            int index = table[probe] - 1;
            // Bytes that another process may change meanwhile can be equal to a level or not; nothing else follows.
            if (hashes[index] == hash && equal(bytes[index], buffer, offset, length)) {
                return index;
            }
        }
        return -1;
    }

    private int probe(long hash) {
        return (int) (hash >>> 32) & mask;
    }

    private static long hash(ByteBuffer buffer, int offset, int length) {
        long hash = length * MULTIPLIER;
        int end = offset + length;
        int at = offset;
        for (; at <= end - Long.BYTES; at += Long.BYTES) {
            hash = mix(hash ^ buffer.getLong(at));
        }
        long rest = 0;
        for (; at < end; at++) {
            rest = rest << Byte.SIZE | (buffer.get(at) & 0xff);
        }
        return mix(hash ^ rest);
    }

    private static long mix(long value) {
        long product = value * MULTIPLIER;
        return product ^ product >>> 29;
    }

    private static boolean equal(ByteBuffer level, ByteBuffer buffer, int offset, int length) {
        if (level.capacity() != length) {
            return false;
        }
        int at = 0;
        for (; at <= length - Long.BYTES; at += Long.BYTES) {
            if (level.getLong(at) != buffer.getLong(offset + at)) {
                return false;
            }
        }
        for (; at < length; at++) {
            if (level.get(at) != buffer.get(offset + at)) {
                return false;
            }
        }
        return true;
    }

    private static ByteBuffer utf8(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)).order(ByteOrder.LITTLE_ENDIAN);
    }
}
