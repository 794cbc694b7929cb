package io.millrace.lake.fit;

import io.millrace.contract.ColumnType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Which levels a column keeps, by scikit-learn's rules: a level is rare when it occurs less than {@code minFrequency}; of the others the
 * most frequent are kept, so that with the shared one of the rare there are at most {@code maxLevels}; of equally frequent ones the
 * later in order is kept.
 *
 * @param levels kept, in order
 * @param pooled whether some were not
 */
record LevelChoice(List<String> levels, boolean pooled) {
    static LevelChoice of(
            List<CountedLevel> ordered, long rows, double minFrequency, int maxLevels, boolean othersExist) {
        double minCount = minFrequency < 1 ? minFrequency * rows : minFrequency;
        List<Integer> kept = new ArrayList<>();
        for (int i = 0; i < ordered.size(); i++) {
            if (ordered.get(i).count() >= minCount) {
                kept.add(i);
            }
        }
        boolean pooled = othersExist || kept.size() < ordered.size();
        if (kept.size() + (pooled ? 1 : 0) > maxLevels) {
            pooled = true;
            kept.sort(Comparator.comparingLong((Integer i) -> ordered.get(i).count())
                    .thenComparing(Comparator.naturalOrder())
                    .reversed());
            kept = kept.subList(0, maxLevels - 1);
        }
        Set<Integer> chosen = new HashSet<>(kept);
        List<String> levels = new ArrayList<>(chosen.size());
        for (int i = 0; i < ordered.size(); i++) {
            if (chosen.contains(i)) {
                levels.add(ordered.get(i).text());
            }
        }
        return new LevelChoice(levels, pooled);
    }

    /** A number as the text of a level. */
    static String text(ColumnType type, double value) {
        if (type == ColumnType.BOOLEAN) {
            return value == 0 ? "false" : "true";
        }
        long whole = (long) value;
        return whole == value ? Long.toString(whole) : Double.toString(value);
    }
}
