package io.millrace.gateway.profile;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/*
 * JFR looks at five threads that run Java code each period, but only at one that runs native code: these take turns. So one
 * look at a native thread stands for as many periods as there are threads that take turns, those that only wait among them.
 * How many there are is told by how many different ones the looks around it were at, which is several rounds.
 */
/** What the samples of native code stand for. */
final class NativeTurns {
    /** Looks that count, before and after one. */
    private static final int HALF_WINDOW = 25;

    private NativeTurns() {}

    /** When a thread was looked at. */
    record Look(Instant time, long threadId) {}

    /**
     * Periods that each look stands for.
     *
     * @param looks in the order of their times
     */
    static int[] weights(List<Look> looks) {
        int[] weights = new int[looks.size()];
        Map<Long, Integer> within = new HashMap<>();
        int begin = 0;
        int end = 0;
        for (int index = 0; index < weights.length; index++) {
            while (end < weights.length && end <= index + HALF_WINDOW) {
                within.merge(looks.get(end++).threadId(), 1, Integer::sum);
            }
            while (begin < index - HALF_WINDOW) {
                within.computeIfPresent(
                        looks.get(begin++).threadId(), (thread, count) -> count == 1 ? null : count - 1);
            }
            weights[index] = within.size();
        }
        return weights;
    }
}
