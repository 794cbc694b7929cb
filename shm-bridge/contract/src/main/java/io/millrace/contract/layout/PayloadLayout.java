package io.millrace.contract.layout;

/**
 * Requests and responses that do not fit their slabs: each is a file of its own, and the length in the slot line, which
 * is above the slab's, says so.
 *
 * <pre>
 *  region directory / payload-{generation, hex} / req-{slot index}-{state word, 16 hex digits}     by the backend
 *                                                 resp-{slot index}-{state word, 16 hex digits}    by the gateway
 * </pre>
 *
 * <p>The state word is that of the claim, with state {@link SlotState#FREE}: no two uses of a slot share a name. The
 * writer makes the file complete before the move of the slot that gives it away; the reader removes it.
 */
public final class PayloadLayout {
    /** Bytes of the rows of one request. */
    public static final int ROWS_LENGTH_LIMIT = 64 << 20;

    /** Bytes of a file: room for the largest rows with all that goes around them, and for their echo. */
    public static final int LENGTH_LIMIT = 68 << 20;

    /** Before the generation in the directory's name. */
    public static final String DIRECTORY_PREFIX = "payload-";

    /** Before the slot index in the name of a request. */
    public static final String REQUEST_PREFIX = "req-";

    /** Before the slot index in the name of a response. */
    public static final String RESPONSE_PREFIX = "resp-";

    private PayloadLayout() {}

    /** Directory of a generation's files. */
    public static String directoryName(long generation) {
        return DIRECTORY_PREFIX + Long.toHexString(generation);
    }

    /** File of the request in a slot; any state word of its use. */
    public static String requestName(int slotIndex, long stateWord) {
        return name(REQUEST_PREFIX, slotIndex, stateWord);
    }

    /** File of the response in a slot; any state word of its use. */
    public static String responseName(int slotIndex, long stateWord) {
        return name(RESPONSE_PREFIX, slotIndex, stateWord);
    }

    private static String name(String prefix, int slotIndex, long stateWord) {
        return String.format("%s%d-%016x", prefix, slotIndex, SlotLayout.withState(stateWord, SlotState.FREE));
    }
}
