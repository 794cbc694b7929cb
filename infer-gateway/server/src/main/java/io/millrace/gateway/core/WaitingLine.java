package io.millrace.gateway.core;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Requests that wait for the same thing, first in first out. Guarded by the {@link WaitingRoom}, but for questions. */
final class WaitingLine {
    final ArrayDeque<WaitingRoom.Waiting> waiting = new ArrayDeque<>();
    int rows;
    private volatile @Nullable Refusal refusal;

    /** Whether somebody waits, so that who comes now stands behind. */
    boolean isBusy() {
        return refusal != null;
    }

    /** What holds the first one up; null when nobody waits. */
    @Nullable
    Refusal refusal() {
        return refusal;
    }

    void heldUpBy(@Nullable Refusal newRefusal) {
        refusal = newRefusal;
    }
}
