package io.millrace.snapshot.source;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Whether the reader is held at a boundary: from the moment something was emitted that must be the last before a checkpoint,
 * until the first checkpoint taken after it is complete. A checkpoint that fails changes nothing: the next one holds the same
 * records and no more.
 *
 * <p>Threads: the task's thread alone.
 */
final class Boundary {
    private static final long NONE = -1;

    private @Nullable CompletableFuture<Void> passed;
    private long checkpointId = NONE;

    /** Called while emitting: nothing may follow in this checkpoint. */
    void reached() {
        if (passed == null) {
            passed = new CompletableFuture<>();
            checkpointId = NONE;
        }
    }

    boolean held() {
        return passed != null;
    }

    /** Completes when emission may go on. Only asked for while {@link #held}. */
    CompletableFuture<Void> passed() {
        CompletableFuture<Void> waiting = passed;
        return waiting == null ? CompletableFuture.completedFuture(null) : waiting;
    }

    void checkpointTaken(long id) {
        if (held() && checkpointId == NONE) {
            checkpointId = id;
        }
    }

    void checkpointComplete(long id) {
        CompletableFuture<Void> waiting = passed;
        if (waiting != null && checkpointId != NONE && id >= checkpointId) {
            passed = null;
            waiting.complete(null);
        }
    }
}
