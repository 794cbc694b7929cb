package io.millrace.region;

import io.millrace.contract.layout.ControlLayout;
import io.millrace.contract.layout.RegionLayout;
import io.millrace.contract.layout.RegionLayout.SlotOffsets;
import io.millrace.contract.layout.SlotLayout;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import net.openhft.chronicle.bytes.Byteable;
import net.openhft.chronicle.bytes.BytesStore;
import net.openhft.chronicle.hash.impl.VanillaChronicleHash;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.map.ChronicleMapBuilder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The three maps of one generation, and the addresses of their values.
 *
 * What makes it sound to hand addresses of map values to another process:
 *  - values have a constant size and are never removed, so they never move;
 *  - one segment, no tiering: the file is mapped once, as a whole;
 *  - no checksums: an entry written by the other process would not match one;
 *  - the files are made fresh by each gateway, so a lock left inside by a killed one does not matter;
 *  - no close on exit: the hook would unmap under running threads and crash the process.
 * The offset in the file is address - bsAddress(); Byteable.offset() is something else.
 */
final class RegionMaps implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RegionMaps.class);

    private static final int CONTROL_KEY = -1;
    private static final int READY_KEY = -2;
    private static final int PAGE_LENGTH = 4096;

    static {
        ChronicleSettings.apply();
    }

    private final ChronicleMap<Integer, LineValue> lines;
    private final ChronicleMap<Integer, SlabValue> requests;
    private final ChronicleMap<Integer, SlabValue> responses;
    private final Path linesFile;
    private final Path requestFile;
    private final Path responseFile;
    private final long[] lineAddresses = new long[SlotLayout.SLOT_COUNT];
    private final ByteBuffer[] requestSlabs;
    private final ByteBuffer[] responseSlabs;
    private final boolean[] responseHeld = new boolean[SlotLayout.SLOT_COUNT];
    private final List<SlotOffsets> offsets = new ArrayList<>();
    private final long controlAddress;
    private final long readyAddress;

    RegionMaps(RegionFiles files, long generation, boolean sparseWanted) throws IOException {
        String suffix = Long.toHexString(generation) + ".cm3";
        linesFile = files.resolve("lines-" + suffix);
        requestFile = files.resolve("req-" + suffix);
        responseFile = files.resolve("resp-" + suffix);
        checkSpace(linesFile);
        lines = create(linesFile, LineValue.class, SlotLayout.SLOT_COUNT + 2, SlotLayout.LENGTH);
        requests = create(requestFile, SlabValue.class, SlotLayout.SLOT_COUNT, PAGE_LENGTH);
        responses = create(responseFile, SlabValue.class, SlotLayout.SLOT_COUNT, PAGE_LENGTH);
        files.share(linesFile);
        files.share(requestFile);
        files.expose(responseFile);

        LineValue line = new LineValue();
        controlAddress = acquire(lines, CONTROL_KEY, line);
        readyAddress = acquire(lines, READY_KEY, line);
        boolean sparse = sparseWanted && SlabMemory.isSupported(controlAddress);
        if (sparse != sparseWanted) {
            log.info("region takes all its memory at once, since this kernel is older than 5.14");
        }
        Arrays.fill(responseHeld, !sparse);
        SlabValue slab = new SlabValue();
        for (int slotIndex = 0; slotIndex < SlotLayout.SLOT_COUNT; slotIndex++) {
            lineAddresses[slotIndex] = acquire(lines, slotIndex, line);
            offsets.add(new SlotOffsets(
                    lineAddresses[slotIndex] - base(lines),
                    slabOffset(requests, slotIndex, slab, sparse),
                    slabOffset(responses, slotIndex, slab, sparse)));
        }
        requestSlabs = slabs(
                requestFile, offsets.stream().mapToLong(SlotOffsets::request).toArray());
        responseSlabs = slabs(
                responseFile, offsets.stream().mapToLong(SlotOffsets::response).toArray());
    }

    /** Chronicle takes all of it to make the files, also where it is given back at once. */
    private static void checkSpace(Path file) {
        long neededBytes = 2L * SlotLayout.SLOT_COUNT * (SlotLayout.SLAB_LENGTH + PAGE_LENGTH) + (1 << 20);
        File directory =
                Objects.requireNonNull(file.toAbsolutePath().getParent()).toFile();
        // Not Files.getFileStore, which looks the directory up in the mount table: in a changed root it is not there.
        long usableBytes = directory.getUsableSpace();
        boolean known = directory.getTotalSpace() > 0;
        if (known && usableBytes < neededBytes) {
            throw new RegionException(
                    "region does not fit its file system: neededBytes=" + neededBytes + ", usableBytes=" + usableBytes,
                    "Enlarge the tmpfs (in a container: --shm-size=256m), or move region-directory to another tmpfs.",
                    null);
        }
    }

    private static <V> ChronicleMap<Integer, V> create(Path file, Class<V> valueType, int entryCount, int alignment)
            throws IOException {
        return ChronicleMapBuilder.of(Integer.class, valueType)
                .name(file.getFileName().toString())
                .entries(entryCount)
                .actualSegments(1)
                .allowSegmentTiering(false)
                .checksumEntries(false)
                .entryAndValueOffsetAlignment(alignment)
                .skipCloseOnExitHook(true)
                .createPersistedTo(file.toFile());
    }

    private static <V extends Value> long acquire(ChronicleMap<Integer, V> map, int key, V value) {
        map.acquireUsing(key, value);
        return value.address();
    }

    private static long slabOffset(
            ChronicleMap<Integer, SlabValue> map, int slotIndex, SlabValue value, boolean sparse) {
        long address = acquire(map, slotIndex, value);
        if (sparse) {
            // Chronicle zeroed it, which made it resident.
            SlabMemory.giveBack(address);
        }
        return address - base(map);
    }

    private static long base(ChronicleMap<?, ?> map) {
        return ((VanillaChronicleHash<?, ?, ?, ?>) map).bsAddress();
    }

    /** A second mapping of the same pages, one bounds-checked buffer per slab, so that no length read can lead astray. */
    private static ByteBuffer[] slabs(Path file, long[] offsets) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer whole = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size());
            ByteBuffer[] slabs = new ByteBuffer[offsets.length];
            for (int slotIndex = 0; slotIndex < offsets.length; slotIndex++) {
                slabs[slotIndex] = whole.slice(Math.toIntExact(offsets[slotIndex]), SlotLayout.SLAB_LENGTH)
                        .order(ByteOrder.LITTLE_ENDIAN);
            }
            return slabs;
        }
    }

    long[] lineAddresses() {
        return lineAddresses;
    }

    long controlAddress() {
        return controlAddress;
    }

    long readyAddress() {
        return readyAddress;
    }

    /** Makes sure that a response slab has its memory; false when there is none. From one thread. */
    boolean holdResponse(int slotIndex) {
        if (!responseHeld[slotIndex]) {
            responseHeld[slotIndex] =
                    SlabMemory.take(base(responses) + offsets.get(slotIndex).response());
        }
        return responseHeld[slotIndex];
    }

    ByteBuffer requestSlab(int slotIndex) {
        return requestSlabs[slotIndex];
    }

    ByteBuffer responseSlab(int slotIndex) {
        return responseSlabs[slotIndex];
    }

    RegionLayout layout(long generation, long heartbeatLimitNanos) throws IOException {
        return new RegionLayout(
                generation,
                ProcessHandle.current().pid(),
                Files.size(linesFile),
                Files.size(requestFile),
                Files.size(responseFile),
                controlAddress - base(lines),
                readyAddress - base(lines),
                heartbeatLimitNanos,
                linesFile.getFileName().toString(),
                requestFile.getFileName().toString(),
                responseFile.getFileName().toString(),
                RegionFiles.SOCKET_NAME,
                offsets);
    }

    /** Unmaps the lines: no thread may touch a slot afterwards. */
    @Override
    public void close() {
        lines.close();
        requests.close();
        responses.close();
    }

    /** A flyweight over one map value. Chronicle makes it without its constructor, so its size must be a constant. */
    abstract static class Value implements Byteable {
        private BytesStore<?, ?> store = BytesStore.empty();
        private long offset;

        @Override
        public void bytesStore(@SuppressWarnings("rawtypes") BytesStore bytesStore, long newOffset, long length) {
            store = bytesStore;
            offset = newOffset;
        }

        @Override
        public BytesStore<?, ?> bytesStore() {
            return store;
        }

        @Override
        public long offset() {
            return offset;
        }

        @Override
        public long address() {
            return store.addressForRead(offset);
        }
    }

    static final class LineValue extends Value {
        @Override
        public long maxSize() {
            // The control line and the ready bitmap live in the same map.
            return Math.max(SlotLayout.LENGTH, ControlLayout.LENGTH);
        }
    }

    static final class SlabValue extends Value {
        @Override
        public long maxSize() {
            return SlotLayout.SLAB_LENGTH;
        }
    }
}
