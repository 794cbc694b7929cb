package io.millrace.contract.layout;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The published directory {@code layout.bin}: where in which file each slot lives. Replaced by atomic rename, once per
 * gateway generation.
 *
 * <pre>
 *   0                 8        12       16                24                32
 *  +-----------------+--------+--------+-----------------+-----------------+
 *  | magic           | version| length | generation      | gateway pid     |
 *  +-----------------+--------+--------+-----------------+-----------------+
 *   32       36       40       44       48                56                64
 *  +--------+--------+--------+--------+-----------------+-----------------+
 *  | slots  | slot l | req l  | resp l | lines bytes     | request bytes   |
 *  +--------+--------+--------+--------+-----------------+-----------------+
 *   64                72                80                88                96
 *  +-----------------+-----------------+-----------------+-----------------+
 *  | response bytes  | control offset  | ready offset    | heartbeat limit |
 *  +-----------------+-----------------+-----------------+-----------------+
 *   96              160                224               288              352
 *  +-----------------+-----------------+-----------------+-----------------+
 *  | lines name      | request name    | response name   | socket name     |
 *  +-----------------+-----------------+-----------------+-----------------+
 *   352 + 24 i: slot offset u64 | request offset u64 | response offset u64
 *   12640: CRC32C u32 of all bytes before
 *   12644: end
 * </pre>
 *
 * <p>Slot, control and ready offsets are of the lines file; names are UTF-8, filled with zeros, plain file names of the
 * directory that holds {@code layout.bin}.
 *
 * @param generation of the region, one per gateway start
 * @param gatewayPid process that writes the heartbeat
 * @param linesFileBytes size of the file of slot lines
 * @param requestFileBytes size of the file of request slabs
 * @param responseFileBytes size of the file of response slabs
 * @param controlOffset of the control line in the lines file
 * @param readyOffset of the ready bitmap in the lines file
 * @param heartbeatLimitNanos age after which the gateway counts as gone
 * @param linesName file name, at most 63 bytes
 * @param requestName file name
 * @param responseName file name
 * @param socketName file name of the doorbell
 * @param slots {@link SlotLayout#SLOT_COUNT} entries
 */
public record RegionLayout(
        long generation,
        long gatewayPid,
        long linesFileBytes,
        long requestFileBytes,
        long responseFileBytes,
        long controlOffset,
        long readyOffset,
        long heartbeatLimitNanos,
        String linesName,
        String requestName,
        String responseName,
        String socketName,
        List<SlotOffsets> slots) {

    /**
     * Where one slot lives.
     *
     * @param slot of its line in the lines file
     * @param request of its slab in the request file
     * @param response of its slab in the response file
     */
    public record SlotOffsets(long slot, long request, long response) {}

    /** Name of the file in the region directory. */
    public static final String FILE_NAME = "layout.bin";

    /** "MILLRACE" read as a little-endian u64. */
    public static final long MAGIC = 0x45434152_4C4C494DL;

    public static final int MAGIC_OFFSET = 0;
    public static final int VERSION_OFFSET = 8;
    public static final int LENGTH_OFFSET = 12;
    public static final int GENERATION_OFFSET = 16;
    public static final int GATEWAY_PID_OFFSET = 24;
    public static final int SLOT_COUNT_OFFSET = 32;
    public static final int SLOT_LENGTH_OFFSET = 36;
    public static final int REQUEST_SLAB_LENGTH_OFFSET = 40;
    public static final int RESPONSE_SLAB_LENGTH_OFFSET = 44;
    public static final int LINES_FILE_BYTES_OFFSET = 48;
    public static final int REQUEST_FILE_BYTES_OFFSET = 56;
    public static final int RESPONSE_FILE_BYTES_OFFSET = 64;
    public static final int CONTROL_OFFSET_OFFSET = 72;
    public static final int READY_OFFSET_OFFSET = 80;
    public static final int HEARTBEAT_LIMIT_OFFSET = 88;
    public static final int LINES_NAME_OFFSET = 96;
    public static final int REQUEST_NAME_OFFSET = 160;
    public static final int RESPONSE_NAME_OFFSET = 224;
    public static final int SOCKET_NAME_OFFSET = 288;

    /** Bytes of one name, at least one of them zero. */
    public static final int NAME_LENGTH = 64;

    public static final int ENTRIES_OFFSET = 352;
    public static final int ENTRY_LENGTH = 24;
    public static final int ENTRY_SLOT_OFFSET = 0;
    public static final int ENTRY_REQUEST_OFFSET = 8;
    public static final int ENTRY_RESPONSE_OFFSET = 16;
    public static final int CRC_OFFSET = ENTRIES_OFFSET + SlotLayout.SLOT_COUNT * ENTRY_LENGTH;

    /** Bytes of the file. */
    public static final int LENGTH = CRC_OFFSET + 4;

    public RegionLayout {
        slots = List.copyOf(slots);
    }

    /**
     * The file's bytes, {@link #LENGTH} of them.
     *
     * @throws ContractException {@link ErrorCode#CORRUPT_LAYOUT} if {@link #decode} would refuse them
     */
    public byte[] encode() {
        check();
        ByteBuffer file = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        file.putLong(MAGIC_OFFSET, MAGIC);
        file.putInt(VERSION_OFFSET, ControlLayout.VERSION);
        file.putInt(LENGTH_OFFSET, LENGTH);
        file.putLong(GENERATION_OFFSET, generation);
        file.putLong(GATEWAY_PID_OFFSET, gatewayPid);
        file.putInt(SLOT_COUNT_OFFSET, SlotLayout.SLOT_COUNT);
        file.putInt(SLOT_LENGTH_OFFSET, SlotLayout.LENGTH);
        file.putInt(REQUEST_SLAB_LENGTH_OFFSET, SlotLayout.SLAB_LENGTH);
        file.putInt(RESPONSE_SLAB_LENGTH_OFFSET, SlotLayout.SLAB_LENGTH);
        file.putLong(LINES_FILE_BYTES_OFFSET, linesFileBytes);
        file.putLong(REQUEST_FILE_BYTES_OFFSET, requestFileBytes);
        file.putLong(RESPONSE_FILE_BYTES_OFFSET, responseFileBytes);
        file.putLong(CONTROL_OFFSET_OFFSET, controlOffset);
        file.putLong(READY_OFFSET_OFFSET, readyOffset);
        file.putLong(HEARTBEAT_LIMIT_OFFSET, heartbeatLimitNanos);
        putName(file, LINES_NAME_OFFSET, linesName);
        putName(file, REQUEST_NAME_OFFSET, requestName);
        putName(file, RESPONSE_NAME_OFFSET, responseName);
        putName(file, SOCKET_NAME_OFFSET, socketName);
        for (int slotIndex = 0; slotIndex < slots.size(); slotIndex++) {
            SlotOffsets slot = slots.get(slotIndex);
            int base = ENTRIES_OFFSET + slotIndex * ENTRY_LENGTH;
            file.putLong(base + ENTRY_SLOT_OFFSET, slot.slot());
            file.putLong(base + ENTRY_REQUEST_OFFSET, slot.request());
            file.putLong(base + ENTRY_RESPONSE_OFFSET, slot.response());
        }
        file.putInt(CRC_OFFSET, crc(file));
        return file.array();
    }

    /**
     * Reads the file's bytes and checks everything that can be checked without the other files.
     *
     * @param bytes the whole file
     * @throws ContractException {@link ErrorCode#UNKNOWN_VERSION} if another version wrote it, {@link
     *     ErrorCode#CORRUPT_LAYOUT} if anything else is wrong
     */
    public static RegionLayout decode(byte[] bytes) {
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        checkHeader(file);
        List<SlotOffsets> slots = new ArrayList<>(SlotLayout.SLOT_COUNT);
        for (int slotIndex = 0; slotIndex < SlotLayout.SLOT_COUNT; slotIndex++) {
            int base = ENTRIES_OFFSET + slotIndex * ENTRY_LENGTH;
            slots.add(new SlotOffsets(
                    file.getLong(base + ENTRY_SLOT_OFFSET),
                    file.getLong(base + ENTRY_REQUEST_OFFSET),
                    file.getLong(base + ENTRY_RESPONSE_OFFSET)));
        }
        RegionLayout layout = new RegionLayout(
                file.getLong(GENERATION_OFFSET),
                file.getLong(GATEWAY_PID_OFFSET),
                file.getLong(LINES_FILE_BYTES_OFFSET),
                file.getLong(REQUEST_FILE_BYTES_OFFSET),
                file.getLong(RESPONSE_FILE_BYTES_OFFSET),
                file.getLong(CONTROL_OFFSET_OFFSET),
                file.getLong(READY_OFFSET_OFFSET),
                file.getLong(HEARTBEAT_LIMIT_OFFSET),
                name(file, LINES_NAME_OFFSET),
                name(file, REQUEST_NAME_OFFSET),
                name(file, RESPONSE_NAME_OFFSET),
                name(file, SOCKET_NAME_OFFSET),
                slots);
        layout.check();
        return layout;
    }

    private static void checkHeader(ByteBuffer file) {
        // Magic and version come before the length, so that a file of another version is named as such.
        if (file.capacity() < LENGTH_OFFSET) {
            throw corrupt("layout is truncated: length=" + file.capacity() + ", expectedLength=" + LENGTH);
        }
        if (file.getLong(MAGIC_OFFSET) != MAGIC) {
            throw corrupt("layout magic is wrong: magic=0x" + Long.toHexString(file.getLong(MAGIC_OFFSET)));
        }
        int version = file.getInt(VERSION_OFFSET);
        if (version != ControlLayout.VERSION) {
            throw new ContractException(
                    ErrorCode.UNKNOWN_VERSION,
                    "layout version is unknown: version=" + Integer.toUnsignedString(version) + ", expectedVersion="
                            + ControlLayout.VERSION);
        }
        if (file.capacity() != LENGTH || file.getInt(LENGTH_OFFSET) != LENGTH) {
            throw corrupt("layout is truncated: length=" + file.capacity() + ", expectedLength=" + LENGTH);
        }
        if (file.getInt(CRC_OFFSET) != crc(file)) {
            throw corrupt("layout checksum is wrong: checksum=0x" + Integer.toHexString(file.getInt(CRC_OFFSET))
                    + ", computed=0x" + Integer.toHexString(crc(file)));
        }
        checkCount("slot count", file.getInt(SLOT_COUNT_OFFSET), SlotLayout.SLOT_COUNT);
        checkCount("slot length", file.getInt(SLOT_LENGTH_OFFSET), SlotLayout.LENGTH);
        checkCount("request slab length", file.getInt(REQUEST_SLAB_LENGTH_OFFSET), SlotLayout.SLAB_LENGTH);
        checkCount("response slab length", file.getInt(RESPONSE_SLAB_LENGTH_OFFSET), SlotLayout.SLAB_LENGTH);
    }

    private void check() {
        if (slots.size() != SlotLayout.SLOT_COUNT) {
            checkCount("slot count", slots.size(), SlotLayout.SLOT_COUNT);
        }
        for (String name : List.of(linesName, requestName, responseName, socketName)) {
            checkName(name);
        }
        checkBounds("control", controlOffset, ControlLayout.LENGTH, linesFileBytes);
        checkBounds("ready", readyOffset, ControlLayout.LENGTH, linesFileBytes);
        for (SlotOffsets slot : slots) {
            checkBounds("slot", slot.slot(), SlotLayout.LENGTH, linesFileBytes);
            checkBounds("request", slot.request(), SlotLayout.SLAB_LENGTH, requestFileBytes);
            checkBounds("response", slot.response(), SlotLayout.SLAB_LENGTH, responseFileBytes);
        }
    }

    private static void checkCount(String what, int actual, int expected) {
        if (actual != expected) {
            throw corrupt("layout " + what + " is wrong: value=" + Integer.toUnsignedString(actual) + ", expected="
                    + expected);
        }
    }

    private static void checkBounds(String what, long offset, int length, long fileBytes) {
        // Lines must be aligned, or the C side's atomics would tear.
        if (fileBytes < length || offset < 0 || offset > fileBytes - length || (offset & 63) != 0) {
            throw corrupt("layout " + what + " offset is out of bounds: offset=" + offset + ", length=" + length
                    + ", fileBytes=" + fileBytes);
        }
    }

    private static void checkName(String name) {
        int length = name.getBytes(StandardCharsets.UTF_8).length;
        if (length == 0 || length >= NAME_LENGTH || name.indexOf('/') >= 0 || name.indexOf('\0') >= 0) {
            throw corrupt(
                    "layout name must be a plain file name: length=" + length + ", limitLength=" + (NAME_LENGTH - 1));
        }
    }

    private static void putName(ByteBuffer file, int offset, String name) {
        file.put(offset, name.getBytes(StandardCharsets.UTF_8));
    }

    private static String name(ByteBuffer file, int offset) {
        byte[] name = new byte[NAME_LENGTH];
        file.get(offset, name);
        int length = 0;
        while (length < NAME_LENGTH && name[length] != 0) {
            length++;
        }
        return new String(name, 0, length, StandardCharsets.UTF_8);
    }

    private static int crc(ByteBuffer file) {
        CRC32C crc = new CRC32C();
        crc.update(file.duplicate().position(0).limit(CRC_OFFSET));
        return (int) crc.getValue();
    }

    private static ContractException corrupt(String message) {
        return new ContractException(ErrorCode.CORRUPT_LAYOUT, message);
    }
}
