package io.millrace.lake.statistics;

import io.millrace.contract.TextLevels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/*
 * Misra and Gries's heavy hitters, in batches: when the table is full the median count is taken from every entry and what falls to
 * zero is dropped. A kept count is too small by at most `undercount`, and a text that occurs more often than that is kept. The result
 * does not depend on the order of the table.
 */

/**
 * How often each text occurs: exact while there are at most {@link #DISTINCT_MAX} distinct ones, the frequent ones beyond it. A text
 * longer than {@link #LENGTH_MAX} is prose, not a level, and only counted as such.
 */
public final class TextCounts {
    /** Distinct texts that are counted. */
    public static final int DISTINCT_MAX = 16_384;

    /** Characters of a text that can be a level. */
    public static final int LENGTH_MAX = 256;

    private final Map<String, long[]> counts = new HashMap<>();
    private long undercount;
    private long longTexts;

    /** A text with its count. */
    public record Level(String text, long count) {}

    /** Adds a text. */
    public void add(String text) {
        if (text.length() > LENGTH_MAX) {
            longTexts++;
            return;
        }
        long[] count = counts.get(text);
        if (count == null) {
            counts.put(text, new long[] {1});
            shrink();
        } else {
            count[0]++;
        }
    }

    /** Adds what another has seen; the other stays as it is. */
    public void merge(TextCounts other) {
        other.counts.forEach((text, count) -> counts.computeIfAbsent(text, key -> new long[1])[0] += count[0]);
        undercount += other.undercount;
        longTexts += other.longTexts;
        shrink();
    }

    /** Whether every text that can be a level is counted exactly. */
    public boolean isExact() {
        return undercount == 0;
    }

    /** Texts that are too long for a level. */
    public long longTexts() {
        return longTexts;
    }

    /** How much too small a count can be; 0 while exact. */
    public long undercount() {
        return undercount;
    }

    /** Kept texts in the order of code points. */
    public List<Level> levels() {
        List<Level> levels = new ArrayList<>(counts.size());
        counts.forEach((text, count) -> levels.add(new Level(text, count[0])));
        levels.sort((left, right) -> TextLevels.ORDER.compare(left.text(), right.text()));
        return levels;
    }

    /** Kept texts. */
    public int size() {
        return counts.size();
    }

    /** Approximate bytes held. */
    public long heldBytes() {
        return 160L * counts.size();
    }

    private void shrink() {
        while (counts.size() > DISTINCT_MAX) {
            long[] sorted = new long[counts.size()];
            int next = 0;
            for (long[] count : counts.values()) {
                sorted[next++] = count[0];
            }
            Arrays.sort(sorted);
            long median = sorted[sorted.length / 2];
            counts.values().removeIf(count -> count[0] <= median);
            counts.values().forEach(count -> count[0] -= median);
            undercount += median;
        }
    }
}
