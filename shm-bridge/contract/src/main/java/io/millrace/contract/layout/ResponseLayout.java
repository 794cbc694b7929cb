package io.millrace.contract.layout;

/**
 * A response's bytes, in its slab; the slot line's status says which of the two forms it is.
 *
 * <pre>
 *  status 0
 *   0    2    4        8                16                24
 *  +----+----+--------+-----------------+-----------------+----
 *  | ver| knd| rows   | model key       | model id        | rows
 *  +----+----+--------+-----------------+-----------------+----
 *  row: u32 row status; if 0, by value kind
 *    SCALAR f64 | VECTOR u32 n, n x f64 | TEXT u32 length, UTF-8 | VECTOR32 u32 n, n x f32
 *    FULL f64 prediction, u32 length, label UTF-8, u32 n, n x f64 probabilities | BYTES u32 length, bytes
 *  else u32 length, message UTF-8
 *
 *  status not 0
 *   u32 length, message UTF-8, u32 length, hint UTF-8
 * </pre>
 */
public final class ResponseLayout {
    /** u16: {@link RequestLayout#VERSION}. */
    public static final int VERSION_OFFSET = 0;

    /** u16: a value kind. */
    public static final int VALUE_KIND_OFFSET = 2;

    /** u32. */
    public static final int ROW_COUNT_OFFSET = 4;

    /** u64: model key that answered; 0 when no model did. */
    public static final int MODEL_KEY_OFFSET = 8;

    /** u64: model id that answered; 0 when no model did. */
    public static final int MODEL_ID_OFFSET = 16;

    /** Bytes before the first row. */
    public static final int HEADER_LENGTH = 24;

    /** Bytes of a message or a hint; longer ones are cut. */
    public static final int MESSAGE_LIMIT = 4_096;

    private ResponseLayout() {}
}
