package io.millrace.lake.statistics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/*
 * Quantiles of a stream in bounded memory: exact while there are at most EXACT_MAX values, then the compactor sketch of Karnin, Lang
 * and Liberty. Their compactor throws a coin to keep the odd or the even items of a sorted level; here each level keeps them in turn.
 * That gives up a bound that holds against an adversary who knows the turn, and gets the same bytes for the same values, which the
 * identity of a fitted preprocessing rests on.
 */

/**
 * Quantiles of finite numbers, mergeable. Exact up to {@link #EXACT_MAX} values; beyond it the rank is off by about 1 / {@link #WIDTH}.
 *
 * @see <a href="https://arxiv.org/abs/1603.05346">Karnin, Lang, Liberty: Optimal quantile approximation in streams</a>
 */
public final class QuantileSketch {
    /** Values that are all kept. */
    public static final int EXACT_MAX = 32_768;

    /** Items of the highest level; each lower one has two thirds of it. */
    public static final int WIDTH = 800;

    private static final int LEVEL_MIN = 64;

    private double[] exact = new double[64];
    private final List<Level> levels = new ArrayList<>();
    private long count;

    /** Adds finite numbers. */
    public void add(double[] values, int length) {
        if (isExact() && count + length <= EXACT_MAX) {
            int size = (int) count;
            if (size + length > exact.length) {
                exact = Arrays.copyOf(exact, Math.min(EXACT_MAX, Math.max(2 * exact.length, size + length)));
            }
            System.arraycopy(values, 0, exact, size, length);
            count += length;
            return;
        }
        spill();
        insert(values, length);
        count += length;
    }

    /** Adds what another has seen; the other stays as it is. */
    public void merge(QuantileSketch other) {
        if (other.isExact()) {
            add(other.exact, (int) other.count);
            return;
        }
        spill();
        for (int height = 0; height < other.levels.size(); height++) {
            Level from = other.levels.get(height);
            level(height).add(from.items, 0, from.size);
        }
        count += other.count;
        compress();
    }

    public long count() {
        return count;
    }

    /** Whether every value is kept. */
    public boolean isExact() {
        return levels.isEmpty();
    }

    /** Approximate bytes held. */
    public long heldBytes() {
        long bytes = 8L * exact.length;
        for (Level level : levels) {
            bytes += 8L * level.items.length;
        }
        return bytes;
    }

    /**
     * The value at a fraction of the sorted values, between two of them by linear interpolation as numpy does it.
     *
     * @param fraction {@code 0 <= fraction <= 1}
     * @return NaN of nothing
     */
    public double quantile(double fraction) {
        if (count == 0) {
            return Double.NaN;
        }
        double position = fraction * (count - 1);
        long below = (long) position;
        double part = position - below;
        Sorted sorted = sorted();
        double low = sorted.at(below);
        double high = sorted.at(Math.min(below + 1, count - 1));
        if (part == 0.5) {
            return low + high == Double.POSITIVE_INFINITY || low + high == Double.NEGATIVE_INFINITY
                    ? low / 2 + high / 2
                    : (low + high) / 2;
        }
        double difference = high - low;
        return part < 0.5 ? low + difference * part : high - difference * (1 - part);
    }

    private void spill() {
        if (isExact()) {
            level(0);
            insert(exact, (int) count);
            exact = new double[0];
        }
    }

    private void insert(double[] values, int length) {
        int next = 0;
        while (next < length) {
            Level lowest = levels.get(0);
            int free = capacity(0) - lowest.size;
            int part = Math.min(free, length - next);
            lowest.add(values, next, part);
            next += part;
            if (part == free) {
                compress();
            }
        }
    }

    private Level level(int height) {
        while (levels.size() <= height) {
            levels.add(new Level());
        }
        return levels.get(height);
    }

    private int capacity(int height) {
        double capacity = WIDTH * Math.pow(2.0 / 3.0, levels.size() - 1 - height);
        return Math.max(LEVEL_MIN, (int) Math.ceil(capacity));
    }

    private void compress() {
        boolean full = true;
        while (full) {
            full = false;
            for (int height = 0; height < levels.size(); height++) {
                if (levels.get(height).size >= capacity(height)) {
                    // It may add a level, which makes the capacities below smaller: look again.
                    levels.get(height).halveInto(level(height + 1));
                    full = true;
                }
            }
        }
    }

    private Sorted sorted() {
        if (isExact()) {
            double[] values = Arrays.copyOf(exact, (int) count);
            Arrays.sort(values);
            return rank -> values[(int) rank];
        }
        int items = 0;
        for (Level level : levels) {
            items += level.size;
        }
        long[][] weighted = new long[items][];
        int next = 0;
        for (int height = 0; height < levels.size(); height++) {
            Level level = levels.get(height);
            for (int i = 0; i < level.size; i++) {
                weighted[next++] = new long[] {Double.doubleToRawLongBits(level.items[i]), 1L << height};
            }
        }
        Arrays.sort(
                weighted,
                (left, right) -> Double.compare(Double.longBitsToDouble(left[0]), Double.longBitsToDouble(right[0])));
        return rank -> {
            long seen = 0;
            for (long[] item : weighted) {
                seen += item[1];
                if (seen > rank) {
                    return Double.longBitsToDouble(item[0]);
                }
            }
            return Double.longBitsToDouble(weighted[weighted.length - 1][0]);
        };
    }

    @FunctionalInterface
    private interface Sorted {
        double at(long rank);
    }

    /** Items of one weight. */
    private static final class Level {
        private double[] items = new double[16];
        private int size;
        private boolean keepOdd;

        private void add(double value) {
            reserve(1);
            items[size++] = value;
        }

        private void add(double[] values, int from, int length) {
            reserve(length);
            System.arraycopy(values, from, items, size, length);
            size += length;
        }

        private void reserve(int length) {
            if (size + length > items.length) {
                items = Arrays.copyOf(items, Math.max(2 * items.length, size + length));
            }
        }

        /** Moves every other item up; of an odd number the largest stays. */
        private void halveInto(Level above) {
            Arrays.sort(items, 0, size);
            int pairs = size / 2;
            for (int pair = 0; pair < pairs; pair++) {
                above.add(items[2 * pair + (keepOdd ? 1 : 0)]);
            }
            keepOdd = !keepOdd;
            if (size % 2 == 1) {
                items[0] = items[size - 1];
                size = 1;
            } else {
                size = 0;
            }
        }
    }
}
