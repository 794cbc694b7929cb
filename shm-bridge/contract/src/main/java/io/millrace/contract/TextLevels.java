package io.millrace.contract;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A list of distinct texts that answers where one of them is, also for UTF-8 bytes in place, without allocation.
 *
 * <p>Open addressing over the FNV-1a hash of the UTF-8 bytes, at most half full. Immutable; any thread.
 */
public final class TextLevels {
    /** Order of code points, which is also the order of UTF-8 bytes and of scikit-learn; String's own order is not. */
    public static final Comparator<String> ORDER = (left, right) ->
            Arrays.compareUnsigned(left.getBytes(StandardCharsets.UTF_8), right.getBytes(StandardCharsets.UTF_8));

    private final List<String> levels;
    private final byte[][] bytes;
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
        bytes = new byte[levels.size()][];
        hashes = new long[levels.size()];
        for (int index = 0; index < bytes.length; index++) {
            bytes[index] = this.levels.get(index).getBytes(StandardCharsets.UTF_8);
            hashes[index] = Fnv1a.update(Fnv1a.start(), bytes[index]);
            insert(index);
        }
    }

    private void insert(int index) {
        int probe = probe(hashes[index]);
        while (table[probe] != 0) {
            if (Arrays.equals(bytes[table[probe] - 1], bytes[index])) {
                throw new ContractException(
                        ErrorCode.INVALID_VALUE,
                        "levels must be distinct: first=" + (table[probe] - 1) + ", second=" + index);
            }
            probe = (probe + 1) & mask;
        }
        table[probe] = index + 1;
    }

    /** Whether no two texts have the same UTF-8 bytes. */
    public static boolean areDistinct(List<String> texts) {
        Set<ByteBuffer> distinct = new HashSet<>();
        for (String text : texts) {
            distinct.add(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
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
        byte[] wanted = text.getBytes(StandardCharsets.UTF_8);
        return indexOf(ByteBuffer.wrap(wanted), 0, wanted.length);
    }

    /** Index of the text whose UTF-8 bytes are {@code length} bytes at an absolute offset; -1 when not in the list. */
    public int indexOf(ByteBuffer buffer, int offset, int length) {
        long hash = Fnv1a.of(buffer, offset, length);
        for (int probe = probe(hash); table[probe] != 0; probe = (probe + 1) & mask) {
            int index = table[probe] - 1;
            if (hashes[index] == hash && equal(bytes[index], buffer, offset, length)) {
                return index;
            }
        }
        return -1;
    }

    private int probe(long hash) {
        return (int) (hash ^ (hash >>> 32)) & mask;
    }

    private static boolean equal(byte[] level, ByteBuffer buffer, int offset, int length) {
        if (level.length != length) {
            return false;
        }
        for (int index = 0; index < length; index++) {
            if (level[index] != buffer.get(offset + index)) {
                return false;
            }
        }
        return true;
    }
}
