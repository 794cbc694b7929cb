package io.millrace.contract.fitted;

import java.util.List;

/**
 * How a value with levels becomes numbers. Levels are texts: of a text column the values themselves, of an integer
 * column their decimal digits, of a boolean column {@code false} and {@code true}.
 *
 * <p>A value that is not among the levels is unseen, and always counted. With {@code pooled} the rare levels were left
 * out of the list, and they and unseen values share one more level after the last.
 */
public sealed interface Encoder {
    /** The value is its own number. */
    record None() implements Encoder {}

    /**
     * One feature: the index of the level; NULL gives NaN, unseen gives -1 (with {@code pooled} the count of levels).
     *
     * @param levels distinct; the default order is that of code points, or of numbers
     * @param pooled whether rare levels share one more code
     */
    record Ordinal(List<String> levels, boolean pooled) implements Encoder {
        /** Copies the list. */
        public Ordinal {
            levels = List.copyOf(levels);
        }
    }

    /**
     * One feature per level, 1 at the value's level; NULL and unseen give zeros (with {@code pooled} unseen gives 1 at
     * one more feature).
     *
     * @param levels distinct; the default order is that of code points, or of numbers
     * @param pooled whether rare levels share one more feature
     */
    record OneHot(List<String> levels, boolean pooled) implements Encoder {
        /** Copies the list. */
        public OneHot {
            levels = List.copyOf(levels);
        }
    }

    /** No encoding. */
    static Encoder none() {
        return new None();
    }
}
