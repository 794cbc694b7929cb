package io.millrace.gateway.profile;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/*
 * JFR looks at every thread that runs Java code each period, but only at one that runs native code: these take turns. So one
 * look at a native thread stands for as many periods as there are threads that take turns, those that only wait among them.
 * How many there are is told by how many different ones were looked at within about a second, which is several rounds.
 */
/** What the samples of native code stand for. */
final class NativeTurns {
    private static final Duration HALF_WINDOW = Duration.ofMillis(500);

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
            Instant time = looks.get(index).time();
            while (end < weights.length && !looks.get(end).time().isAfter(time.plus(HALF_WINDOW))) {
                within.merge(looks.get(end++).threadId(), 1, Integer::sum);
            }
            while (looks.get(begin).time().isBefore(time.minus(HALF_WINDOW))) {
                within.computeIfPresent(
                        looks.get(begin++).threadId(), (thread, count) -> count == 1 ? null : count - 1);
            }
            weights[index] = within.size();
        }
        return weights;
    }
}
