package io.millrace.gateway.http;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;

/** How many requests, and how much memory for all of them, there may be at a time. Threads: any. */
final class Capacity {
    private final int requestLimit;
    private final long limitBytes;
    private final AtomicInteger requestCount = new AtomicInteger();
    private final AtomicLong usedBytes = new AtomicLong();

    Capacity(int requestLimit, long limitBytes) {
        this.requestLimit = requestLimit;
        this.limitBytes = limitBytes;
    }

    /** Requests that hold a ticket. */
    int requestCount() {
        return requestCount.get();
    }

    /** Bytes that they hold. */
    long usedBytes() {
        return usedBytes.get();
    }

    /**
     * Lets a request in.
     *
     * @throws Refusal if there are too many
     */
    Ticket enter() {
        if (requestCount.incrementAndGet() > requestLimit) {
            requestCount.decrementAndGet();
            throw new Refusal(
                    HttpStatus.TOO_MANY_REQUESTS_429,
                    "too many requests at a time: limit=" + requestLimit,
                    HttpHeader.RETRY_AFTER.asString(),
                    "1");
        }
        return new Ticket();
    }

    /** What one request holds, until it is closed. Threads: one at a time. */
    final class Ticket implements AutoCloseable {
        private long heldBytes;
        private boolean closed;

        private Ticket() {}

        /**
         * Takes some more memory.
         *
         * @throws ContractException {@link ErrorCode#PAYLOAD_TOO_LARGE} if the request alone outgrows the limit, {@link
         *     ErrorCode#OUT_OF_MEMORY} if the others hold too much
         */
        void take(long bytes) {
            if (heldBytes + bytes > limitBytes) {
                throw new ContractException(
                        ErrorCode.PAYLOAD_TOO_LARGE,
                        "request and answer must fit the memory for requests: bytes=" + (heldBytes + bytes)
                                + ", limitBytes=" + limitBytes);
            }
            long used = usedBytes.addAndGet(bytes);
            if (used > limitBytes) {
                usedBytes.addAndGet(-bytes);
                throw new ContractException(
                        ErrorCode.OUT_OF_MEMORY,
                        "memory for requests is used up: usedBytes=" + (used - bytes) + ", requestBytes=" + bytes
                                + ", limitBytes=" + limitBytes);
            }
            heldBytes += bytes;
        }

        /** Gives some memory back. */
        void give(long bytes) {
            heldBytes -= bytes;
            usedBytes.addAndGet(-bytes);
        }

        /** Gives everything back; safe to repeat. */
        @Override
        public void close() {
            if (!closed) {
                closed = true;
                give(heldBytes);
                requestCount.decrementAndGet();
            }
        }
    }
}
