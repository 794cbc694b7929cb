package io.millrace.contract.layout;

/**
 * One slot line: the state and the measurements of one request.
 *
 * <pre>
 *   0        4        8        12       16                24                32
 *  +-----------------+--------+--------+-----------------+-----------------+
 *  | state word      | waiter | kind   | model key       | request id      |
 *  +-----------------+--------+--------+-----------------+-----------------+
 *   32                40       44       48                                  64
 *  +-----------------+--------+--------+-----------------------------------+
 *  | deadline ns     | req len| conn id| trace id                          |
 *  +-----------------+--------+--------+-----------------------------------+
 *   64                72                80                88                96
 *  +-----------------+-----------------+-----------------+-----------------+
 *  | span id         | submitted ns    | taken ns        | done ns         |
 *  +-----------------+-----------------+-----------------+-----------------+
 *   96       100      104               112      116                        128
 *  +--------+--------+-----------------+--------+--------------------------+
 *  | resp l | status | owner start     | trace f| zero                     |
 *  +--------+--------+-----------------+--------+--------------------------+
 *
 *  state word:  63            32 31        8 7      0
 *              | generation     | owner pid | state  |
 * </pre>
 *
 * <p>All times are nanoseconds of CLOCK_MONOTONIC, which is {@code System.nanoTime} on Linux. A request or a response
 * longer than its slab is in a file: {@link PayloadLayout}.
 */
public final class SlotLayout {
    /** Bytes of one slot line. */
    public static final int LENGTH = 128;

    /** Slots of a region; a multiple of 64, one bit each in the ready bitmap. */
    public static final int SLOT_COUNT = 512;

    /** Bytes of one request slab and of one response slab. */
    public static final int SLAB_LENGTH = 131_072;

    /** u64: generation, owner pid and state; every move is a compare-and-set of all of it. */
    public static final int STATE_OFFSET = 0;

    /** u32: whether and where the backend sleeps, a {@link Sleeper}. */
    public static final int WAITER_OFFSET = 8;

    /** u32: a {@link RequestKind}. */
    public static final int KIND_OFFSET = 12;

    /** u64: first eight bytes, little-endian, of the SHA-256 of the model's manifest. */
    public static final int MODEL_KEY_OFFSET = 16;

    /** u64: counter of the backend. */
    public static final int REQUEST_ID_OFFSET = 24;

    /** i64: ns of CLOCK_MONOTONIC after which nobody waits. */
    public static final int DEADLINE_OFFSET = 32;

    /** u32: bytes of the request; above the slab's length it is in a file. */
    public static final int REQUEST_LENGTH_OFFSET = 40;

    /** u32: connection id of the doorbell's hello. */
    public static final int CONNECTION_ID_OFFSET = 44;

    /** 16 bytes: W3C trace id. */
    public static final int TRACE_ID_OFFSET = 48;

    /** 8 bytes: W3C span id of the caller; zero when the backend made the trace id up and nobody has a span. */
    public static final int SPAN_ID_OFFSET = 64;

    /** i64: when the backend submitted. */
    public static final int SUBMITTED_OFFSET = 72;

    /** i64: when the gateway took it. */
    public static final int TAKEN_OFFSET = 80;

    /** i64: when the gateway answered. */
    public static final int DONE_OFFSET = 88;

    /** u32: bytes of the response; above the slab's length it is in a file. */
    public static final int RESPONSE_LENGTH_OFFSET = 96;

    /** u32: an {@link io.millrace.contract.ErrorCode}. */
    public static final int STATUS_OFFSET = 100;

    /** u64: start time of the owner in clock ticks since boot, against reuse of its pid. */
    public static final int OWNER_START_OFFSET = 104;

    /** u32: W3C trace flags of the caller, of which {@link #TRACE_SAMPLED} is known; zero when there is none. */
    public static final int TRACE_FLAGS_OFFSET = 112;

    /** The caller records its part of the trace. */
    public static final int TRACE_SAMPLED = 1;

    /** Bits of the owner's pid in the state word. */
    public static final int OWNER_PID_BITS = 24;

    private static final int GENERATION_SHIFT = 32;
    private static final int OWNER_PID_SHIFT = 8;
    private static final int OWNER_PID_MASK = (1 << OWNER_PID_BITS) - 1;
    private static final int STATE_MASK = 0xff;

    private SlotLayout() {}

    /**
     * The state word of a slot.
     *
     * @param generation low 32 bits are kept; it wraps
     * @param ownerPid {@code 0 <= ownerPid < 2^24}
     */
    public static long stateWord(int generation, int ownerPid, SlotState state) {
        assert (ownerPid & ~OWNER_PID_MASK) == 0 : ownerPid;
        return ((long) generation << GENERATION_SHIFT) | ((long) ownerPid << OWNER_PID_SHIFT) | state.code();
    }

    /** The same owner and generation in another state. */
    public static long withState(long stateWord, SlotState state) {
        return (stateWord & ~(long) STATE_MASK) | state.code();
    }

    /** Generation of a state word; unsigned, it wraps. */
    public static int generation(long stateWord) {
        return (int) (stateWord >>> GENERATION_SHIFT);
    }

    /** Process id of the backend that owns the slot; 0 when free. */
    public static int ownerPid(long stateWord) {
        return (int) (stateWord >>> OWNER_PID_SHIFT) & OWNER_PID_MASK;
    }

    /** Code of a state word; compare it with {@link SlotState#code}. */
    public static int stateCode(long stateWord) {
        return (int) stateWord & STATE_MASK;
    }

    /**
     * State of a state word.
     *
     * @throws io.millrace.contract.ContractException {@link io.millrace.contract.ErrorCode#CORRUPT_LAYOUT} if unknown
     */
    public static SlotState state(long stateWord) {
        return SlotState.of(stateCode(stateWord));
    }
}
