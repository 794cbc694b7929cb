package io.millrace.train.algorithm;

import java.util.Comparator;
import java.util.Locale;
import java.util.stream.Stream;

/** The listed name that a mistyped one most probably meant. */
final class Nearest {
    private Nearest() {}

    /** The name with the smallest edit distance to {@code asked}; the first listed among equals. */
    static String of(String asked, Stream<String> names) {
        String lower = asked.toLowerCase(Locale.ROOT);
        return names.min(Comparator.comparingInt(name -> distance(lower, name))).orElse("");
    }

    private static int distance(String left, String right) {
        int[] previous = new int[right.length() + 1];
        int[] current = new int[right.length() + 1];
        for (int j = 0; j <= right.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= left.length(); i++) {
            current[0] = i;
            for (int j = 1; j <= right.length(); j++) {
                int replace = previous[j - 1] + (left.charAt(i - 1) == right.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(replace, Math.min(previous[j], current[j - 1]) + 1);
            }
            int[] swap = previous;
            previous = current;
            current = swap;
        }
        return previous[right.length()];
    }
}
