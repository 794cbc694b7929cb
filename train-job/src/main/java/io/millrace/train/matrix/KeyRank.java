package io.millrace.train.matrix;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.RowReader;
import io.millrace.train.spec.RunRefusedException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The 64-bit rank by which rows are chosen: the rows of smallest rank (unsigned) are the test rows. It depends on the
 * row's key alone, so the same rows are chosen however often, and in whatever order, a snapshot is exported.
 */
public final class KeyRank {
    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private KeyRank() {}

    /** A hash of a row's key. Changing it changes which rows are test rows. */
    public static long hashed(long seed, String key) {
        long hash = FNV_OFFSET;
        for (byte octet : key.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (octet & 0xff)) * FNV_PRIME;
        }
        // FNV leaves the high bits of short keys poorly mixed, and they decide.
        return mixed(hash ^ mixed(seed));
    }

    /** The step of SplitMix64: every bit of the input moves half of the output's. */
    private static long mixed(long value) {
        long mixed = value + 0x9e3779b97f4a7c15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
        return mixed ^ (mixed >>> 31);
    }

    /**
     * A rank that is the smaller the larger the key is.
     *
     * @param keys columns of the key
     * @param row a row
     * @param column index of the key column in {@code row}
     * @throws RunRefusedException if the key has no order that fits 64 bits
     */
    public static long last(List<Column> keys, RowReader row, int column) {
        checkOrdered(keys);
        ColumnType type = keys.get(0).type();
        long ordered = switch (type) {
            case FLOAT64 -> orderedBits(row.float64(column));
            default -> row.int64(column);
        };
        // Flipping the sign bit makes signed order unsigned; the complement turns it around.
        return ~(ordered ^ Long.MIN_VALUE);
    }

    /**
     * Refuses keys that {@link #last} cannot order.
     *
     * @throws RunRefusedException naming the columns
     */
    public static void checkOrdered(List<Column> keys) {
        boolean ordered = keys.size() == 1
                && switch (keys.get(0).type()) {
                    case INT64, FLOAT64, DATE, TIMESTAMP -> true;
                    case BOOLEAN, TEXT -> false;
                };
        if (!ordered) {
            throw new RunRefusedException("test sampling last must have one key column of a number, date or timestamp: "
                    + "keys="
                    + keys.stream().map(key -> key.name() + " " + key.type()).toList());
        }
    }

    private static long orderedBits(double value) {
        long bits = Double.doubleToLongBits(value);
        return bits >= 0 ? bits : bits ^ Long.MAX_VALUE;
    }
}
