package io.millrace.contract;

import java.util.Collection;
import java.util.Optional;
import java.util.TreeSet;

/** The name a person probably meant. */
public final class Nearest {
    private Nearest() {}

    /**
     * The known name with the fewest single-character edits from the given one.
     *
     * @return nothing when more than half of the given name would change
     */
    public static Optional<String> of(String given, Collection<String> known) {
        String best = null;
        int bestDistance = given.length() / 2 + 1;
        // Sorted, so that of two equally near names the same one is always named.
        for (String candidate : new TreeSet<>(known)) {
            int distance = distance(given, candidate);
            if (distance < bestDistance) {
                best = candidate;
                bestDistance = distance;
            }
        }
        return Optional.ofNullable(best);
    }

    private static int distance(String left, String right) {
        int[] previous = new int[right.length() + 1];
        int[] current = new int[right.length() + 1];
        for (int column = 0; column <= right.length(); column++) {
            previous[column] = column;
        }
        for (int row = 1; row <= left.length(); row++) {
            current[0] = row;
            for (int column = 1; column <= right.length(); column++) {
                int change = left.charAt(row - 1) == right.charAt(column - 1) ? 0 : 1;
                current[column] =
                        Math.min(Math.min(current[column - 1], previous[column]) + 1, previous[column - 1] + change);
            }
            int[] swap = previous;
            previous = current;
            current = swap;
        }
        return previous[right.length()];
    }
}
