package io.millrace.contract.layout;

/**
 * The control line and the ready bitmap: how the gateway is, and which slots wait for it.
 *
 * <pre>
 *  control line
 *   0                 8        12       16                24                32
 *  +-----------------+--------+--------+-----------------+-----------------+
 *  | magic           | version| state  | generation      | heartbeat ns    |
 *  +-----------------+--------+--------+-----------------+-----------------+
 *   32                40                                                    64
 *  +-----------------+-----------------------------------------------------+
 *  | gateway pid     | zero                                                |
 *  +-----------------+-----------------------------------------------------+
 *   64       68                                                             128
 *  +--------+--------------------------------------------------------------+
 *  | sleep  | zero: the flag has its own cache line                        |
 *  +--------+--------------------------------------------------------------+
 *
 *  ready bitmap, another value: word w at 8w, bit b of it = slot 64w + b
 *   0                                                     64                128
 *  +-----------------------------------------------------+-----------------+
 *  | 8 x u64                                             | zero            |
 *  +-----------------------------------------------------+-----------------+
 * </pre>
 *
 * <p>The version is written last: a reader that sees it sees the rest.
 */
public final class ControlLayout {
    /** Bytes of the control line and of the value that holds the ready bitmap. */
    public static final int LENGTH = 128;

    /** "MILLCTRL" read as a little-endian u64. */
    public static final long MAGIC = 0x4C525443_4C4C494DL;

    /** Version of every layout of this package; any change of an offset or of what it means raises it. */
    public static final int VERSION = 4;

    /** u64. */
    public static final int MAGIC_OFFSET = 0;

    /** u32, written last. */
    public static final int VERSION_OFFSET = 8;

    /** u32: {@link #SERVING}, {@link #DRAINING} or {@link #CLOSED}. */
    public static final int STATE_OFFSET = 12;

    /** u64: generation of the region, one per gateway start. */
    public static final int GENERATION_OFFSET = 16;

    /** i64: ns of CLOCK_MONOTONIC, renewed by the gateway. */
    public static final int HEARTBEAT_OFFSET = 24;

    /** u64. */
    public static final int GATEWAY_PID_OFFSET = 32;

    /** u32: 1 while the gateway sleeps and must be rung. */
    public static final int SLEEPING_OFFSET = 64;

    /** Words of the ready bitmap. */
    public static final int READY_WORD_COUNT = SlotLayout.SLOT_COUNT / 64;

    /** Requests are taken. */
    public static final int SERVING = 1;

    /** Requests in flight are answered, new ones are refused. */
    public static final int DRAINING = 2;

    /** Nobody answers. */
    public static final int CLOSED = 3;

    private ControlLayout() {}

    /** Offset of the ready word that holds a slot's bit. */
    public static int readyWordOffset(int slotIndex) {
        return (slotIndex >>> 6) << 3;
    }

    /** A slot's bit in its ready word. */
    public static long readyBit(int slotIndex) {
        return 1L << (slotIndex & 63);
    }
}
