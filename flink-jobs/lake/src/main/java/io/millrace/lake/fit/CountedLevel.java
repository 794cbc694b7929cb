package io.millrace.lake.fit;

import io.millrace.contract.TextLevels;
import java.util.Comparator;

/**
 * A level and how often it occurs.
 *
 * @param value of a number; NaN of a text
 */
record CountedLevel(String text, double value, long count) {
    /** Numbers by value, texts by code points; both never meet in one list. */
    static final Comparator<CountedLevel> ORDER =
            Comparator.comparingDouble(CountedLevel::value).thenComparing(CountedLevel::text, TextLevels.ORDER);
}
