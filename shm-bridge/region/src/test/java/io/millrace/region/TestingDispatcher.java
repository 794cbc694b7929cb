package io.millrace.region;

import io.millrace.contract.layout.SlotLayout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/** A gateway of one thread that copies each request into its response after an optional pause. */
public final class TestingDispatcher implements AutoCloseable {
    private final Region region;
    private final Thread thread;
    private final long pauseMillis;
    private volatile boolean stopping;

    public TestingDispatcher(Region region, long pauseMillis) {
        this.region = region;
        this.pauseMillis = pauseMillis;
        this.thread = new Thread(this::run, "testing-dispatcher");
        thread.start();
    }

    private void run() {
        SlotTable slots = region.slots();
        int[] indexes = new int[slots.slotCount()];
        long[] words = new long[slots.slotCount()];
        try {
            while (!stopping) {
                int count = slots.takeReady(indexes, words);
                for (int i = 0; i < count; i++) {
                    echo(slots, indexes[i], words[i]);
                }
                if (count == 0) {
                    region.doorbell().await();
                } else {
                    region.doorbell().poll();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void echo(SlotTable slots, int slotIndex, long word) throws IOException, InterruptedException {
        if (pauseMillis > 0) {
            Thread.sleep(pauseMillis);
        }
        int length = slots.requestLength(slotIndex);
        if (length <= SlotLayout.SLAB_LENGTH) {
            slots.responseSlab(slotIndex).put(0, slots.requestSlab(slotIndex), 0, length);
        } else {
            ByteBuffer request = region.payloads().openRequest(slotIndex, word, length);
            region.payloads().writeResponse(slotIndex, word, request.duplicate());
            PayloadFiles.free(request);
        }
        int connectionId = slots.connectionId(slotIndex);
        if (slots.finish(slotIndex, word, length, 0, System.nanoTime()) && slots.wakeOwner(slotIndex)) {
            region.doorbell().ring(connectionId);
        }
    }

    @Override
    public void close() {
        stopping = true;
        region.doorbell().wake();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
