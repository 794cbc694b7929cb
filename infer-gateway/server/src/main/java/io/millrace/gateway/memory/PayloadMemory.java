package io.millrace.gateway.memory;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.PayloadLayout;
import io.millrace.region.PayloadFiles;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/*
 * A request that does not fit its slab is mapped from its file, a response is gathered in a direct buffer until it is
 * written to its own. Both are counted against one limit while they exist. One that would pass it is refused: to wait for
 * others would keep the dispatcher, or a worker, from finishing them.
 */
/** Memory of the payloads in flight, bounded. Threads: any. */
final class PayloadMemory {
    private final long limitBytes;
    private final AtomicLong usedBytes = new AtomicLong();

    PayloadMemory(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /** Bytes of all payloads in flight. */
    long usedBytes() {
        return usedBytes.get();
    }

    /**
     * Counts bytes that are about to be used.
     *
     * @throws ContractException {@link ErrorCode#QUEUE_FULL} if others use too many already
     */
    void reserve(long length) {
        long used = usedBytes.addAndGet(length);
        if (used > limitBytes) {
            usedBytes.addAndGet(-length);
            throw new ContractException(
                    ErrorCode.QUEUE_FULL,
                    "payloads in flight must fit their memory: length=" + length + ", usedBytes=" + (used - length)
                            + ", limitBytes=" + limitBytes);
        }
    }

    /** Gives reserved bytes back. */
    void release(long length) {
        usedBytes.addAndGet(-length);
    }

    /**
     * A larger buffer for a response, with what is written of it.
     *
     * @param current from position to limit; freed if it is {@code owned}
     * @param owned the buffer that the last call gave, if any
     * @param neededLength bytes it must hold at least
     * @return null when no response may be as long
     */
    @Nullable
    ByteBuffer grow(ByteBuffer current, @Nullable ByteBuffer owned, long neededLength) {
        if (neededLength > PayloadLayout.LENGTH_LIMIT) {
            return null;
        }
        int ownedLength = owned == null ? 0 : owned.capacity();
        int capacity = (int) Math.min(PayloadLayout.LENGTH_LIMIT, Math.max(neededLength, 2L * current.remaining()));
        reserve(capacity);
        ByteBuffer grown = ByteBuffer.allocateDirect(capacity).order(ByteOrder.LITTLE_ENDIAN);
        grown.put(0, current, current.position(), current.remaining());
        if (owned != null) {
            PayloadFiles.free(owned);
            release(ownedLength);
        }
        return grown;
    }

    /** Frees what {@link #grow} or {@link PayloadFiles#openRequest} gave. */
    void free(ByteBuffer buffer) {
        PayloadFiles.free(buffer);
        release(buffer.capacity());
    }
}
