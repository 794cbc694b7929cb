package io.millrace.contract.layout;

/**
 * A request's bytes, in its slab.
 *
 * <pre>
 *   0    2    4        8                16       20       24       28       32
 *  +----+----+--------+-----------------+--------+--------+--------+--------+
 *  | ver|flag| rows   | descriptor hash | desc l | ref l  | rows l | 0      |
 *  +----+----+--------+--------+--------+--------+--------+--------+--------+
 *  | tenant key       | limits          |
 *  +------------------+-----------------+
 *  32                 40                48: descriptor | model reference | rows, back to back, without padding
 *
 *  descriptor: u16 column count, per column { u8 type tag, u16 name length, name UTF-8 }
 *  row:        null bitmap of ceil(columns / 8) bytes, bit i of byte i/8 set = NULL; then the values that are not NULL
 *              BOOLEAN u8 | INT64 i64 | FLOAT64 f64 | TEXT u32 length, UTF-8 | DATE i32 days | TIMESTAMP i64 us
 * </pre>
 *
 * <p>A descriptor length of 0 says the gateway knows the hash already; a model reference length of 0 that it holds the
 * model. All column names empty = positional. The limits of the project travel in the model reference; the header only
 * names them, so that a gateway that has not seen them asks for the reference.
 */
public final class RequestLayout {
    /** Version of the request and of the response. */
    public static final int VERSION = 2;

    /** u16. */
    public static final int VERSION_OFFSET = 0;

    /** u16: {@link #FLAG_BULK}, the other bits zero. */
    public static final int FLAGS_OFFSET = 2;

    /** Part of a large job, which may wait while others ask for single rows. */
    public static final int FLAG_BULK = 1;

    /** u32. */
    public static final int ROW_COUNT_OFFSET = 4;

    /** u64: FNV-1a 64 of the descriptor's bytes, sent or not. */
    public static final int DESCRIPTOR_HASH_OFFSET = 8;

    /** u32. */
    public static final int DESCRIPTOR_LENGTH_OFFSET = 16;

    /** u32. */
    public static final int MODEL_REFERENCE_LENGTH_OFFSET = 20;

    /** u32. */
    public static final int ROWS_LENGTH_OFFSET = 24;

    /** u32, zero. */
    public static final int RESERVED_OFFSET = 28;

    /** u64: FNV-1a 64 of the cluster's system identifier (u64), the database's OID (u64) and the project's id (i64). */
    public static final int TENANT_KEY_OFFSET = 32;

    /** u64: names the limits of the project; 0 = it has none. */
    public static final int LIMITS_OFFSET = 40;

    /** Bytes before the descriptor. */
    public static final int HEADER_LENGTH = 48;

    /**
     * Columns of a descriptor; PostgreSQL's own limit of a table is 1600, a positional row may be wider. One row of numbers
     * of that many columns fits a slab together with its descriptor and a model reference.
     */
    public static final int COLUMN_LIMIT = 8_192;

    /** Bytes of a column's name; PostgreSQL's names have at most 63. */
    public static final int NAME_LIMIT = 255;

    /** Rows of one request. */
    public static final int ROW_LIMIT = 1 << 20;

    /** Bytes of a model reference. */
    public static final int MODEL_REFERENCE_LIMIT = 16_384;

    private RequestLayout() {}
}
