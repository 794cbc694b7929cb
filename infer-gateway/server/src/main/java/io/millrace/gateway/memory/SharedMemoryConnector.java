package io.millrace.gateway.memory;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.gateway.core.Connector;
import io.millrace.gateway.core.Pipeline;
import io.millrace.region.Region;
import io.millrace.region.SlotTable;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The dispatcher takes every slot that is ready, submits the lot, lets the pipeline run what is short, and looks again.
 * When there is nothing it waits awake for a lone session, or else gives way: on a busy machine the sessions it answered run now and send their next requests,
 * and finding those is cheaper, for both sides, than to sleep and be rung for each. When nobody else wanted to run, or
 * nothing came of it, it sleeps on the doorbell. While it is busy it looks at its connections about once a millisecond, so that new sessions get in.
 */
/** Serves the slots of a region. Threads: one of its own. */
public final class SharedMemoryConnector implements Connector {
    private static final Logger log = LoggerFactory.getLogger(SharedMemoryConnector.class);
    private static final int DESCRIPTOR_COLUMNS_MAX = 1 << 17;
    private static final int LOOKS_PER_TIME = 16;
    private static final int YIELDS_MAX = 3;

    /** A yield that returns sooner has let nobody run. */
    private static final long YIELDED_NANOS = 3_000;

    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Region region;
    private final Pipeline pipeline;
    private final SpinBudget spin;
    private final PayloadMemory payloads;
    private final SlotRequest[] requests;
    private final Thread dispatcher;
    private volatile boolean stopping;
    private volatile @Nullable Throwable failure;

    /**
     * A connector that does nothing until {@link #start}.
     *
     * @param spinNanos how long the dispatcher waits awake for the next request of a lone session
     * @param payloadBytes memory of the requests and responses in flight that do not fit their slabs
     */
    public SharedMemoryConnector(Region region, Pipeline pipeline, long spinNanos, long payloadBytes) {
        this.region = region;
        this.pipeline = pipeline;
        this.spin = new SpinBudget(spinNanos);
        DescriptorCache descriptors = new DescriptorCache(DESCRIPTOR_COLUMNS_MAX);
        this.payloads = new PayloadMemory(payloadBytes);
        this.requests = new SlotRequest[region.slots().slotCount()];
        for (int slotIndex = 0; slotIndex < requests.length; slotIndex++) {
            requests[slotIndex] = new SlotRequest(region, descriptors, payloads, slotIndex);
        }
        this.dispatcher = new Thread(this::dispatch, "dispatcher");
    }

    @Override
    public void start() {
        dispatcher.start();
        region.serve();
    }

    /** Memory of the requests and responses in flight that do not fit their slabs; bytes. */
    public long payloadBytes() {
        return payloads.usedBytes();
    }

    /** Whether the dispatcher still serves. */
    public boolean isAlive() {
        return dispatcher.isAlive();
    }

    /** Ends the dispatcher because the gateway cannot go on; {@link #awaitEnd} tells the reason. */
    public void abort(Throwable reason) {
        failure = reason;
        stopping = true;
        region.doorbell().wake();
    }

    /** Waits until the dispatcher ends; null when it was told to, else what ended it. */
    public @Nullable Throwable awaitEnd() throws InterruptedException {
        dispatcher.join();
        return failure;
    }

    private void dispatch() {
        try {
            serve();
        } catch (IOException | RuntimeException | Error e) {
            failure = e;
            log.error("dispatcher failed", e);
        }
    }

    private void serve() throws IOException {
        SlotTable slots = region.slots();
        Pipeline.Burst burst = pipeline.burst();
        int[] taken = new int[slots.slotCount()];
        long[] words = new long[slots.slotCount()];
        long polledNanos = System.nanoTime();
        while (!stopping) {
            int count = slots.takeReady(taken, words);
            if (count == 0) {
                awaitReady(slots);
                continue;
            }
            long now = System.nanoTime();
            spin.taken(count, slots.connectionId(taken[count - 1]));
            for (int index = 0; index < count; index++) {
                submit(burst, requests[taken[index]], words[index], now);
            }
            burst.run();
            if (now - polledNanos > POLL_NANOS) {
                region.doorbell().poll();
                polledNanos = now;
            }
        }
    }

    /** Returns when a slot may be ready, or for no reason. */
    private void awaitReady(SlotTable slots) throws IOException {
        long budgetNanos = spin.nanos();
        if (budgetNanos > 0) {
            boolean found = spin(slots, budgetNanos);
            spin.waited(found);
            if (found) {
                return;
            }
        } else {
            for (int yield = 0; yield < YIELDS_MAX && gaveWay(); yield++) {
                if (slots.hasReady()) {
                    return;
                }
            }
        }
        region.doorbell().await();
    }

    private static boolean spin(SlotTable slots, long budgetNanos) {
        long end = System.nanoTime() + budgetNanos;
        while (System.nanoTime() - end < 0) {
            for (int look = 0; look < LOOKS_PER_TIME; look++) {
                if (slots.hasReady()) {
                    return true;
                }
                Thread.onSpinWait();
            }
        }
        return false;
    }

    /** Lets other threads run; whether any did. */
    @SuppressWarnings("ThreadPriorityCheck")
    private static boolean gaveWay() {
        long start = System.nanoTime();
        Thread.yield();
        return System.nanoTime() - start >= YIELDED_NANOS;
    }

    private void submit(Pipeline.Burst burst, SlotRequest request, long word, long now) {
        try {
            request.begin(word, now);
        } catch (ContractException e) {
            refuse(request, e.code(), String.valueOf(e.getMessage()));
            return;
        } catch (RuntimeException | Error e) {
            log.error("request cannot be read", e);
            refuse(request, ErrorCode.INTERNAL, "request cannot be read: reason=" + e);
            return;
        }
        burst.submit(request);
    }

    private void refuse(SlotRequest request, ErrorCode code, String message) {
        pipeline.malformed(code, message, request.traceId());
        request.fail(code, message, "");
    }

    @Override
    public void drain() {
        region.drain();
    }

    @Override
    public void close() {
        stopping = true;
        region.doorbell().wake();
        try {
            dispatcher.join(TimeUnit.SECONDS.toMillis(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
