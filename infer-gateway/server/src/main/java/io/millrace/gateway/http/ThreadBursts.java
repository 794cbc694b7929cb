package io.millrace.gateway.http;

import io.millrace.gateway.core.Pipeline;
import io.millrace.gateway.core.Request;

/*
 * The thread that brought a request scores it when that is known to be short: to wake a worker, and the connection's thread
 * after it, costs many times more than to score a row. A burst belongs to one thread, so each thread has its own. An answer
 * that is written within a burst may lead, through the server, to another request on the same thread; that one must not use
 * the burst, which is still running.
 */
/** Submits requests from the threads of the server. Threads: any. */
final class ThreadBursts {
    private final Pipeline pipeline;
    private final ThreadLocal<Turn> turns;

    private static final class Turn {
        private final Pipeline.Burst burst;
        private boolean running;

        private Turn(Pipeline.Burst burst) {
            this.burst = burst;
        }
    }

    ThreadBursts(Pipeline pipeline) {
        this.pipeline = pipeline;
        this.turns = ThreadLocal.withInitial(() -> new Turn(pipeline.burst()));
    }

    /** Takes a request; its completion may be called before this returns. */
    void submit(Request request) {
        Turn turn = turns.get();
        if (turn.running) {
            pipeline.submit(request);
            return;
        }
        turn.running = true;
        try {
            turn.burst.submit(request);
            turn.burst.run();
        } finally {
            turn.running = false;
        }
    }
}
