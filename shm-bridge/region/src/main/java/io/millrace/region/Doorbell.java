package io.millrace.region;

import io.millrace.contract.layout.DoorbellLayout;
import io.millrace.contract.layout.Sleeper;
import io.millrace.contract.layout.SlotLayout;
import io.millrace.contract.layout.SlotState;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * One Unix stream socket per backend. After the hello every byte, either way, means only "look": the slots are the
 * truth, so a lost or doubled byte does no harm, and a full socket buffer needs no care since its reader is awake.
 *
 * Sleep protocol: say where in the control line, look at the ready bits once more, sleep. A backend sets its ready bit and
 * then reads the flag. Both sides order the two with a full barrier, so at least one of them sees the other.
 */
/**
 * How gateway and backends wake each other, and how the gateway learns at once that a backend died.
 *
 * <p>Threads: {@link #await} and {@link #poll} from one thread; {@link #ring} and {@link #wake} from any.
 */
public final class Doorbell implements AutoCloseable, Sweeper.Connections {
    private static final Logger log = LoggerFactory.getLogger(Doorbell.class);

    /**
     * Longest sleep. The protocol loses no ring; but were one lost all the same, by a bug on either side, its request would
     * wait until anybody else rings. So it waits this long at most.
     * Four looks a second cost nothing that can be measured.
     */
    private static final long SLEEP_MILLIS = 250;

    private static final long ACCEPT_PAUSE_NANOS = 10_000_000;

    private final SlotTable slots;
    private final ControlLine control;
    private final int generationLow;
    private final ServerSocketChannel server;
    private final Selector selector;
    private final Map<Integer, Connection> connections = new ConcurrentHashMap<>();
    private final ByteBuffer incoming = ByteBuffer.allocateDirect(256);
    private final Consumer<SelectionKey> service = this::service;
    private int lastConnectionId;
    private volatile boolean asleep;

    Doorbell(Path socket, SlotTable slots, ControlLine control, long generation) throws IOException {
        this.slots = slots;
        this.control = control;
        this.generationLow = (int) generation;
        this.server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        this.selector = Selector.open();
        try {
            server.bind(UnixDomainSocketAddress.of(socket), 1024);
            server.configureBlocking(false);
            server.register(selector, SelectionKey.OP_ACCEPT);
        } catch (IOException e) {
            server.close();
            selector.close();
            throw e;
        }
    }

    /**
     * Sleeps until a slot is ready, a backend connects or goes, {@link #wake} is called, or 250 ms are over; returns at once
     * if a slot is ready. For the first 5 ms it hears only of slots.
     */
    public void await() throws IOException {
        if (awaitAtWord()) {
            return;
        }
        control.fallAsleep(Sleeper.AT_DOORBELL);
        asleep = true;
        try {
            if (slots.hasReady()) {
                selector.selectNow(service);
            } else {
                selector.select(service, SLEEP_MILLIS);
            }
        } finally {
            asleep = false;
            control.wakeUp();
        }
    }

    /** Sleeps at the control line for as long as the next request mostly takes; whether one is there. */
    private boolean awaitAtWord() {
        if (!Futex.isSupported()) {
            return false;
        }
        control.fallAsleep(Sleeper.AT_WORD);
        try {
            if (!slots.hasReady()) {
                control.sleepAtWord();
            }
        } finally {
            control.wakeUp();
        }
        return slots.hasReady();
    }

    /** Serves connections without waiting; a busy gateway calls it now and then instead of {@link #await}. */
    public void poll() throws IOException {
        selector.selectNow(service);
    }

    /** Ends the current {@link #await}, or the next. */
    public void wake() {
        selector.wakeup();
        control.wakeAtWord();
    }

    /** Whether the dispatcher sleeps in {@link #await} now. */
    public boolean isAsleep() {
        return asleep;
    }

    /** Wakes the backend behind a connection; nothing happens if it is gone. */
    public void ring(int connectionId) {
        Connection connection = connections.get(connectionId);
        if (connection != null) {
            connection.ring();
        }
    }

    /** Connected backends. */
    public int connectionCount() {
        return connections.size();
    }

    @Override
    public boolean isOpen(int connectionId) {
        return connections.containsKey(connectionId);
    }

    private void service(SelectionKey key) {
        if (key.isAcceptable()) {
            accept();
        } else {
            read((Connection) key.attachment());
        }
    }

    private void accept() {
        SocketChannel channel;
        try {
            channel = server.accept();
        } catch (IOException e) {
            log.warn("backend connection cannot be accepted: reason={}", e.toString());
            // It stays pending, so this would come again at once: out of descriptors, most likely.
            LockSupport.parkNanos(ACCEPT_PAUSE_NANOS);
            return;
        }
        if (channel != null) {
            greet(channel);
        }
    }

    private void greet(SocketChannel channel) {
        try {
            channel.configureBlocking(false);
            Connection connection = new Connection(nextConnectionId(), channel);
            // A fresh socket's buffer takes the hello whole.
            channel.write(ByteBuffer.wrap(new DoorbellLayout(connection.id, generationLow).encode()));
            channel.register(selector, SelectionKey.OP_READ, connection);
            connections.put(connection.id, connection);
        } catch (IOException e) {
            log.info("backend is gone before its hello: reason={}", e.toString());
            closeQuietly(channel);
        }
    }

    private int nextConnectionId() {
        do {
            lastConnectionId++;
        } while (lastConnectionId == 0 || connections.containsKey(lastConnectionId));
        return lastConnectionId;
    }

    private void read(Connection connection) {
        int length;
        try {
            incoming.clear();
            length = connection.channel.read(incoming);
        } catch (IOException e) {
            length = -1;
        }
        if (length < 0) {
            connections.remove(connection.id);
            closeQuietly(connection.channel);
            reclaim(connection.id);
        }
    }

    /** Frees what a closed connection held. A claimed slot may still show it by mistake and is left to the sweeper. */
    private void reclaim(int connectionId) {
        for (int slotIndex = 0; slotIndex < slots.slotCount(); slotIndex++) {
            long word = slots.stateWord(slotIndex);
            int code = SlotLayout.stateCode(word);
            boolean owned = code == SlotState.SUBMITTED.code()
                    || code == SlotState.RUNNING.code()
                    || code == SlotState.DONE.code();
            if (owned && slots.connectionId(slotIndex) == connectionId) {
                SlotTable.Reclaimed result = slots.reclaim(slotIndex, word);
                log.debug(
                        "slot of a closed connection is taken back: slotIndex={}, pid={}, result={}",
                        slotIndex,
                        SlotLayout.ownerPid(word),
                        result);
            }
        }
    }

    private static void closeQuietly(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            log.debug("backend connection cannot be closed: reason={}", e.toString());
        }
    }

    /** Closes every connection, which tells all backends at once. */
    @Override
    public void close() throws IOException {
        server.close();
        for (Connection connection : connections.values()) {
            closeQuietly(connection.channel);
        }
        connections.clear();
        selector.close();
    }

    private static final class Connection {
        private final int id;
        private final SocketChannel channel;
        private final ByteBuffer ring =
                ByteBuffer.allocateDirect(1).put(DoorbellLayout.RING).flip();

        private Connection(int id, SocketChannel channel) {
            this.id = id;
            this.channel = channel;
        }

        private synchronized void ring() {
            try {
                ring.rewind();
                channel.write(ring);
            } catch (IOException e) {
                // The reader sees the same end of file and cleans up.
                log.debug("backend cannot be rung: connectionId={}, reason={}", id, e.toString());
            }
        }
    }
}
