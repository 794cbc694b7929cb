package io.millrace.gateway.http;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/*
 * A body that is too large is read to its end and thrown away, as long as it is not more than twice what may be: a client that
 * is still sending when the connection ends mostly loses the answer that says why.
 */
/**
 * Collects the body of a request as it arrives, and blocks no thread for it. Memory grows with what has come, not with
 * what was announced. Threads: one at a time.
 */
final class BodyReader implements Runnable {
    private static final int FIRST_LENGTH = 8_192;
    private static final byte[] NOTHING = new byte[0];

    /** Who wants the body; one of the two is called, once. */
    interface Receiver {
        /** The body is there: the first {@code length} bytes. */
        void received(byte[] body, int length);

        /** It will not come. */
        void failed(Throwable failure);
    }

    private final Request request;
    private final int bytesMax;
    private final Capacity.Ticket ticket;
    private final Runnable waiting;
    private final Receiver receiver;
    private boolean waits;
    private byte[] body = NOTHING;
    private int length;
    private long seen;
    private @Nullable Refusal refusal;

    /**
     * A reader that does nothing until {@link #run}.
     *
     * @param waiting called once, if the body does not come all at once
     */
    BodyReader(Request request, int bytesMax, Capacity.Ticket ticket, Runnable waiting, Receiver receiver) {
        this.request = request;
        this.bytesMax = bytesMax;
        this.ticket = ticket;
        this.waiting = waiting;
        this.receiver = receiver;
    }

    /** Reads what is there, and comes back when there is more. */
    @Override
    public void run() {
        boolean complete;
        try {
            complete = read();
        } catch (RuntimeException | Error e) {
            receiver.failed(e);
            return;
        }
        if (complete) {
            receiver.received(body, length);
        }
    }

    private boolean read() {
        long announced = request.getHeaders().getLongField(HttpHeader.CONTENT_LENGTH);
        if (announced > bytesMax && refusal == null) {
            refuse(announced);
            // Who asks before it sends has nothing under way.
            if (announced > seenMax() || request.getHeaders().contains(HttpHeader.EXPECT)) {
                throw refusal;
            }
        }
        while (true) {
            Content.Chunk chunk = request.read();
            if (chunk == null) {
                if (!waits) {
                    waits = true;
                    waiting.run();
                }
                request.demand(this);
                return false;
            }
            if (Content.Chunk.isFailure(chunk)) {
                receiver.failed(Objects.requireNonNull(chunk.getFailure()));
                return false;
            }
            try {
                append(chunk.getByteBuffer());
            } finally {
                chunk.release();
            }
            if (chunk.isLast()) {
                if (refusal != null) {
                    throw refusal;
                }
                return true;
            }
        }
    }

    private void append(ByteBuffer more) {
        int count = more.remaining();
        seen += count;
        if (refusal == null && count > bytesMax - length) {
            refuse(seen);
        }
        if (refusal != null) {
            if (seen > seenMax()) {
                throw refusal;
            }
            return;
        }
        if (count > body.length - length) {
            int grown = Math.min(bytesMax, Math.max(length + count, Math.max(FIRST_LENGTH, 2 * body.length)));
            ticket.take(grown);
            ticket.give(body.length);
            body = Arrays.copyOf(body, grown);
        }
        more.get(body, length, count);
        length += count;
    }

    private long seenMax() {
        return 2L * bytesMax;
    }

    private void refuse(long bytes) {
        ticket.give(body.length);
        body = NOTHING;
        refusal = new Refusal(
                HttpStatus.PAYLOAD_TOO_LARGE_413,
                "request must not be larger than the limit: bytes=" + bytes + ", limitBytes=" + bytesMax);
    }
}
