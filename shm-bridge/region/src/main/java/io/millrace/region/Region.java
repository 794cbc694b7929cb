package io.millrace.region;

import io.millrace.contract.layout.ControlLayout;
import io.millrace.contract.layout.RegionLayout;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One generation of the shared region: fresh files, slots, doorbell and heartbeat of one gateway process.
 *
 * <p>Life: {@link #create} (backends see no gateway), {@link #serve} (they do), {@link #drain} (new requests are
 * refused, those in flight are answered), {@link #close}. What a killed gateway leaves behind is removed by the next
 * {@link #create}.
 */
public final class Region implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Region.class);

    private final RegionFiles files;
    private final RegionMaps maps;
    private final RegionLayout layout;
    private final ControlLine control;
    private final SlotTable slots;
    private final PayloadFiles payloads;
    private final Doorbell doorbell;
    private final Sweeper sweeper;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Region(RegionFiles files, RegionConfig config, OwnerProbe probe) throws IOException {
        long generation = System.currentTimeMillis();
        this.files = files;
        this.maps = new RegionMaps(files, generation, config.sparse());
        this.layout = maps.layout(generation, config.heartbeatLimit().toNanos());
        this.control = new ControlLine(maps.controlAddress(), generation);
        this.slots = new SlotTable(maps);
        this.payloads = new PayloadFiles(files, slots, generation);
        this.doorbell = new Doorbell(files.resolve(RegionFiles.SOCKET_NAME), slots, control, generation);
        this.sweeper = new Sweeper(slots, payloads, doorbell, probe);
        files.share(files.resolve(RegionFiles.SOCKET_NAME));
    }

    /**
     * Makes a new generation; takes seconds, since Chronicle compiles classes.
     *
     * @throws RegionException if the directory is in use by another gateway, cannot be used, or has no room
     */
    public static Region create(RegionConfig config) {
        return create(config, OwnerProbe.PROCESS_TABLE);
    }

    /** As {@link #create(RegionConfig)}, with another view of the process table. */
    public static Region create(RegionConfig config, OwnerProbe probe) {
        RegionFiles files = RegionFiles.acquire(config.directory(), config.group());
        try {
            return new Region(files, config, probe);
        } catch (IOException e) {
            closeQuietly(files);
            throw new RegionException(
                    "region cannot be made: directory=" + config.directory() + ", reason=" + e,
                    "Check the space and the permissions of the directory.",
                    e);
        } catch (RuntimeException e) {
            closeQuietly(files);
            throw e;
        }
    }

    /** Publishes the layout: from now on backends find the gateway. */
    public void serve() {
        beat();
        control.state(ControlLayout.SERVING);
        try {
            files.publish(RegionLayout.FILE_NAME, layout.encode());
        } catch (IOException e) {
            throw new RegionException(
                    "region layout cannot be published: reason=" + e,
                    "Check the space and the permissions of the directory.",
                    e);
        }
        log.info("region serves: generation={}", layout.generation());
    }

    /** Tells backends to send nothing new. */
    public void drain() {
        control.state(ControlLayout.DRAINING);
    }

    /** Renews the heartbeat; call it several times within the limit, from a thread that shares the gateway's fate. */
    public void beat() {
        control.beat(System.nanoTime());
    }

    /** Nanoseconds since the last {@link #beat}. */
    public long heartbeatAgeNanos() {
        return System.nanoTime() - control.heartbeatNanos();
    }

    public RegionLayout layout() {
        return layout;
    }

    public SlotTable slots() {
        return slots;
    }

    /**
     * Makes sure that the response slab of a slot has its memory, before anything is written to it.
     *
     * <p>Threads: the dispatcher's.
     *
     * @return false when the file system of the region is full; nothing may be written then
     */
    public boolean holdResponse(int slotIndex) {
        return maps.holdResponse(slotIndex);
    }

    public PayloadFiles payloads() {
        return payloads;
    }

    public Doorbell doorbell() {
        return doorbell;
    }

    public Sweeper sweeper() {
        return sweeper;
    }

    /** Ends the generation and removes its files. No thread may use slots or doorbell any more. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        control.state(ControlLayout.CLOSED);
        try {
            files.removeDead();
            doorbell.close();
        } catch (IOException e) {
            log.warn("region files cannot be removed: reason={}", e.toString());
        }
        maps.close();
        closeQuietly(files);
    }

    private static void closeQuietly(RegionFiles files) {
        try {
            files.close();
        } catch (IOException e) {
            log.warn("region lock cannot be released: reason={}", e.toString());
        }
    }
}
