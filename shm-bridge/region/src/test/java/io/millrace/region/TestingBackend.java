package io.millrace.region;

import io.millrace.contract.layout.ControlLayout;
import io.millrace.contract.layout.DoorbellLayout;
import io.millrace.contract.layout.PayloadLayout;
import io.millrace.contract.layout.RegionLayout;
import io.millrace.contract.layout.RequestKind;
import io.millrace.contract.layout.Sleeper;
import io.millrace.contract.layout.SlotLayout;
import io.millrace.contract.layout.SlotState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/**
 * A database backend in Java: reads the published layout, maps the files by itself without Chronicle, claims slots,
 * submits, sleeps on its socket and reads answers, as the extension does.
 *
 * <p>Threads: one.
 */
public final class TestingBackend implements AutoCloseable {
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private final RegionLayout layout;
    private final Path payloads;
    private final ByteBuffer lines;
    private final ByteBuffer requests;
    private final ByteBuffer responses;
    private final SocketChannel socket;
    private final Selector selector;
    private final int connectionId;
    private final int pid;
    private final long startTicks;
    private int lastSlot;
    private long traceIdLow;
    private long callerSpanId;
    private boolean callerSampled;

    private TestingBackend(Path directory, int pid) throws IOException {
        this.pid = pid;
        this.startTicks = ProcessTable.startTicks(pid);
        layout = RegionLayout.decode(Files.readAllBytes(directory.resolve(RegionLayout.FILE_NAME)));
        payloads = directory.resolve(PayloadLayout.directoryName(layout.generation()));
        lines = map(directory.resolve(layout.linesName()), FileChannel.MapMode.READ_WRITE);
        requests = map(directory.resolve(layout.requestName()), FileChannel.MapMode.READ_WRITE);
        responses = map(directory.resolve(layout.responseName()), FileChannel.MapMode.READ_ONLY);
        socket = SocketChannel.open(StandardProtocolFamily.UNIX);
        selector = Selector.open();
        socket.connect(UnixDomainSocketAddress.of(directory.resolve(layout.socketName())));
        ByteBuffer hello = ByteBuffer.allocate(DoorbellLayout.LENGTH);
        while (hello.hasRemaining()) {
            if (socket.read(hello) < 0) {
                throw new IOException("gateway closed the connection before its hello");
            }
        }
        DoorbellLayout decoded = DoorbellLayout.decode(hello.array());
        if (decoded.generationLow() != (int) layout.generation()) {
            throw new IOException("hello is of another generation: generationLow=" + decoded.generationLow());
        }
        connectionId = decoded.connectionId();
        socket.configureBlocking(false);
        socket.register(selector, SelectionKey.OP_READ);
    }

    /** Attaches as this process. */
    public static TestingBackend attach(Path directory) throws IOException {
        return new TestingBackend(directory, (int) ProcessHandle.current().pid());
    }

    /** Attaches as if it were another process. */
    public static TestingBackend attach(Path directory, int pid) throws IOException {
        return new TestingBackend(directory, pid);
    }

    private static ByteBuffer map(Path file, FileChannel.MapMode mode) throws IOException {
        StandardOpenOption[] options = mode == FileChannel.MapMode.READ_ONLY
                ? new StandardOpenOption[] {StandardOpenOption.READ}
                : new StandardOpenOption[] {StandardOpenOption.READ, StandardOpenOption.WRITE};
        try (FileChannel channel = FileChannel.open(file, options)) {
            return channel.map(mode, 0, channel.size()).order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    public RegionLayout layout() {
        return layout;
    }

    public int connectionId() {
        return connectionId;
    }

    public int gatewayState() {
        return (int) INTS.getVolatile(lines, (int) layout.controlOffset() + ControlLayout.STATE_OFFSET);
    }

    public long heartbeatNanos() {
        return (long) LONGS.getVolatile(lines, (int) layout.controlOffset() + ControlLayout.HEARTBEAT_OFFSET);
    }

    public int layoutVersion() {
        return (int) INTS.getVolatile(lines, (int) layout.controlOffset() + ControlLayout.VERSION_OFFSET);
    }

    private int line(int slotIndex) {
        return Math.toIntExact(layout.slots().get(slotIndex).slot());
    }

    /** The word of a slot now. */
    public long stateWord(int slotIndex) {
        return (long) LONGS.getVolatile(lines, line(slotIndex) + SlotLayout.STATE_OFFSET);
    }

    public SlotState state(int slotIndex) {
        return SlotLayout.state(stateWord(slotIndex));
    }

    /** Overwrites a word, to put a slot in a state by force. */
    public void forceStateWord(int slotIndex, long word) {
        LONGS.setVolatile(lines, line(slotIndex) + SlotLayout.STATE_OFFSET, word);
    }

    public void forceReadyBit(int slotIndex) {
        int address = (int) layout.readyOffset() + ControlLayout.readyWordOffset(slotIndex);
        LONGS.getAndBitwiseOr(lines, address, ControlLayout.readyBit(slotIndex));
    }

    /** Writes the owner's start time; the sweeper compares it. */
    public void ownerStart(int slotIndex, long startTicks) {
        lines.putLong(line(slotIndex) + SlotLayout.OWNER_START_OFFSET, startTicks);
    }

    /**
     * From now on requests are part of a caller's trace.
     *
     * @param newTraceIdLow second half of the trace id, big-endian; the first is 0123456789abcdef
     * @param spanId of the caller, big-endian
     */
    public void trace(long newTraceIdLow, long spanId, boolean sampled) {
        traceIdLow = newTraceIdLow;
        callerSpanId = spanId;
        callerSampled = sampled;
    }

    /** FREE to CLAIMED by linear probe; -1 when every slot is in use. */
    public int claim() {
        for (int probe = 0; probe < SlotLayout.SLOT_COUNT; probe++) {
            int slotIndex = (lastSlot + probe) % SlotLayout.SLOT_COUNT;
            long word = stateWord(slotIndex);
            if (SlotLayout.stateCode(word) == SlotState.FREE.code()) {
                long claimed = SlotLayout.stateWord(SlotLayout.generation(word) + 1, pid, SlotState.CLAIMED);
                if (LONGS.compareAndSet(lines, line(slotIndex), word, claimed)) {
                    lastSlot = slotIndex;
                    return slotIndex;
                }
            }
        }
        return -1;
    }

    /** Fills a claimed slot and moves it to SUBMITTED; rings if the gateway sleeps. */
    public void submit(int slotIndex, int kind, long modelKey, byte[] request, Duration timeout) {
        if (request.length <= SlotLayout.SLAB_LENGTH) {
            requests.put(Math.toIntExact(layout.slots().get(slotIndex).request()), request);
        } else {
            writePayload(slotIndex, request);
        }
        submit(slotIndex, kind, modelKey, request.length, timeout);
    }

    /** Where the request of a slot's use is when it does not fit its slab. */
    public Path requestPayload(int slotIndex) {
        return payloads.resolve(PayloadLayout.requestName(slotIndex, stateWord(slotIndex)));
    }

    /** Makes the file of a request that does not fit its slab. */
    public void writePayload(int slotIndex, byte[] request) {
        try {
            Files.write(requestPayload(slotIndex), request, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As above, with a request length of one's own. */
    public void submit(int slotIndex, int kind, long modelKey, int requestLength, Duration timeout) {
        int line = line(slotIndex);
        long now = System.nanoTime();
        lines.putInt(line + SlotLayout.WAITER_OFFSET, Sleeper.AWAKE);
        lines.putInt(line + SlotLayout.KIND_OFFSET, kind);
        lines.putLong(line + SlotLayout.MODEL_KEY_OFFSET, modelKey);
        lines.putLong(line + SlotLayout.REQUEST_ID_OFFSET, now);
        lines.putLong(line + SlotLayout.DEADLINE_OFFSET, now + timeout.toNanos());
        lines.putInt(line + SlotLayout.REQUEST_LENGTH_OFFSET, requestLength);
        lines.putInt(line + SlotLayout.CONNECTION_ID_OFFSET, connectionId);
        lines.putLong(line + SlotLayout.TRACE_ID_OFFSET, Long.reverseBytes(0x0123456789abcdefL));
        lines.putLong(line + SlotLayout.TRACE_ID_OFFSET + 8, Long.reverseBytes(traceIdLow == 0 ? now : traceIdLow));
        lines.putLong(line + SlotLayout.SPAN_ID_OFFSET, Long.reverseBytes(callerSpanId));
        lines.putInt(line + SlotLayout.TRACE_FLAGS_OFFSET, callerSampled ? SlotLayout.TRACE_SAMPLED : 0);
        lines.putLong(line + SlotLayout.SUBMITTED_OFFSET, now);
        lines.putLong(line + SlotLayout.OWNER_START_OFFSET, startTicks);
        long word = stateWord(slotIndex);
        move(slotIndex, word, SlotState.SUBMITTED);
        forceReadyBit(slotIndex);
        int sleeping = (int) layout.controlOffset() + ControlLayout.SLEEPING_OFFSET;
        int place = (int) INTS.getVolatile(lines, sleeping);
        if (place == Sleeper.AWAKE || !INTS.compareAndSet(lines, sleeping, place, Sleeper.AWAKE)) {
            return;
        }
        if (place == Sleeper.AT_WORD) {
            TestingFutex.wakeOne(lines, sleeping);
        } else {
            ring();
        }
    }

    /** CLAIMED to SUBMITTED and the ready bit, nothing else. */
    public void submitQuietly(int slotIndex) {
        move(slotIndex, stateWord(slotIndex), SlotState.SUBMITTED);
        forceReadyBit(slotIndex);
    }

    private void ring() {
        try {
            socket.write(ByteBuffer.wrap(new byte[] {DoorbellLayout.RING}));
        } catch (IOException e) {
            // A closed connection shows when waiting.
        }
    }

    private void move(int slotIndex, long word, SlotState next) {
        if (!LONGS.compareAndSet(lines, line(slotIndex), word, SlotLayout.withState(word, next))) {
            throw new IllegalStateException("slot moved under its owner: slotIndex=" + slotIndex + ", state="
                    + state(slotIndex) + ", next=" + next);
        }
    }

    /**
     * Sleeps on the socket until the slot is DONE.
     *
     * @throws IOException if the gateway closed the connection, or the time is over
     */
    public void awaitDone(int slotIndex, Duration timeout) throws IOException {
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            INTS.setVolatile(lines, line(slotIndex) + SlotLayout.WAITER_OFFSET, Sleeper.AT_DOORBELL);
            if (state(slotIndex) == SlotState.DONE) {
                return;
            }
            long leftMillis = (end - System.nanoTime()) / 1_000_000;
            if (leftMillis <= 0) {
                throw new IOException("no answer in time: slotIndex=" + slotIndex + ", state=" + state(slotIndex));
            }
            selector.select(leftMillis);
            selector.selectedKeys().clear();
            int length = socket.read(ByteBuffer.allocate(64));
            if (length < 0 && state(slotIndex) != SlotState.DONE) {
                throw new IOException("gateway closed the connection: slotIndex=" + slotIndex);
            }
        }
    }

    /**
     * Sleeps at the slot's line until the slot is DONE.
     *
     * @throws IOException if the time is over; a gateway that is gone does not end the wait
     */
    public void awaitDoneAtLine(int slotIndex, Duration timeout) throws IOException {
        int waiter = line(slotIndex) + SlotLayout.WAITER_OFFSET;
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            INTS.setVolatile(lines, waiter, Sleeper.AT_WORD);
            if (state(slotIndex) == SlotState.DONE) {
                return;
            }
            long leftNanos = end - System.nanoTime();
            if (leftNanos <= 0) {
                throw new IOException("no answer in time: slotIndex=" + slotIndex + ", state=" + state(slotIndex));
            }
            TestingFutex.await(lines, waiter, Sleeper.AT_WORD, Duration.ofNanos(leftNanos));
        }
    }

    /** Error code of a DONE slot; 0 for none. */
    public int status(int slotIndex) {
        return lines.getInt(line(slotIndex) + SlotLayout.STATUS_OFFSET);
    }

    public int responseLength(int slotIndex) {
        return lines.getInt(line(slotIndex) + SlotLayout.RESPONSE_LENGTH_OFFSET);
    }

    /** Response of a DONE slot. */
    public byte[] response(int slotIndex) {
        if (responseLength(slotIndex) > SlotLayout.SLAB_LENGTH) {
            return readPayload(slotIndex);
        }
        byte[] response = new byte[responseLength(slotIndex)];
        responses.get(Math.toIntExact(layout.slots().get(slotIndex).response()), response);
        return response;
    }

    private byte[] readPayload(int slotIndex) {
        Path file = payloads.resolve(PayloadLayout.responseName(slotIndex, stateWord(slotIndex)));
        try {
            byte[] response = Files.readAllBytes(file);
            Files.delete(file);
            return response;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** DONE to FREE. */
    public void free(int slotIndex) {
        move(slotIndex, stateWord(slotIndex), SlotState.FREE);
    }

    /** Gives up: CLAIMED, SUBMITTED, DONE to FREE, RUNNING to ABANDONED. */
    public void cancel(int slotIndex) {
        while (true) {
            long word = stateWord(slotIndex);
            SlotState state = SlotLayout.state(word);
            if (state == SlotState.FREE || state == SlotState.ABANDONED) {
                return;
            }
            SlotState next = state == SlotState.RUNNING ? SlotState.ABANDONED : SlotState.FREE;
            if (LONGS.compareAndSet(lines, line(slotIndex), word, SlotLayout.withState(word, next))) {
                return;
            }
        }
    }

    /** One answer as it came. */
    @SuppressWarnings("ArrayRecordComponent")
    public record Answer(int status, byte[] response) {}

    /** Claims, submits, waits, reads and frees. */
    public Answer call(RequestKind kind, long modelKey, byte[] request, Duration timeout) throws IOException {
        int slotIndex = claim();
        if (slotIndex < 0) {
            throw new IOException("every slot is in use");
        }
        try {
            submit(slotIndex, kind.code(), modelKey, request, timeout);
            awaitDone(slotIndex, timeout);
            return new Answer(status(slotIndex), response(slotIndex));
        } finally {
            cancel(slotIndex);
        }
    }

    /** Whether the gateway closed the connection. */
    public boolean connectionEnded() throws IOException {
        return socket.read(ByteBuffer.allocate(64)) < 0;
    }

    /** Closes the socket and frees nothing, like a killed process. */
    @Override
    public void close() throws IOException {
        selector.close();
        socket.close();
    }
}
