package io.millrace.contract;

import java.util.Locale;

/**
 * Type of a value as it travels in a row. PostgreSQL's numeric travels as {@link #FLOAT64}; enum, uuid, varchar and
 * text as {@link #TEXT}.
 */
public enum ColumnType {
    /** One byte, 0 or 1. */
    BOOLEAN(1, 1),
    /** Eight bytes. */
    INT64(2, 8),
    /** Eight bytes, IEEE 754. */
    FLOAT64(3, 8),
    /** u32 length, then UTF-8 bytes. */
    TEXT(4, -1),
    /** Four bytes, signed days from 1970-01-01. */
    DATE(5, 4),
    /** Eight bytes, signed microseconds from 1970-01-01 00:00:00 UTC. */
    TIMESTAMP(6, 8);

    private static final ColumnType[] BY_TAG = new ColumnType[7];

    static {
        for (ColumnType type : values()) {
            BY_TAG[type.tag] = type;
        }
    }

    private final int tag;
    private final int wireLength;

    ColumnType(int tag, int wireLength) {
        this.tag = tag;
        this.wireLength = wireLength;
    }

    /** The byte that names the type in a descriptor. */
    public int tag() {
        return tag;
    }

    /** Bytes of one value on the wire; -1 when the value carries its own length. */
    public int wireLength() {
        return wireLength;
    }

    /** Its name in JSON: lower case. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The type with a name.
     *
     * @param text as in JSON
     * @throws ContractException {@link ErrorCode#UNSUPPORTED_TYPE} if no type has the name
     */
    public static ColumnType of(String text) {
        for (ColumnType type : values()) {
            if (type.text().equals(text)) {
                return type;
            }
        }
        throw new ContractException(ErrorCode.UNSUPPORTED_TYPE, "column type is unknown: type=" + text);
    }

    /** Whether its values are numbers in their own right: boolean, integer or floating. */
    public boolean isNumeric() {
        return this == BOOLEAN || this == INT64 || this == FLOAT64;
    }

    /** Whether {@link RowReader#int64} reads it. */
    public boolean isIntegral() {
        return this == INT64 || this == DATE || this == TIMESTAMP;
    }

    /**
     * The type with a tag.
     *
     * @param tag as received
     * @throws ContractException {@link ErrorCode#INVALID_ENVELOPE} if no type has the tag
     */
    public static ColumnType ofTag(int tag) {
        if (tag <= 0 || tag >= BY_TAG.length) {
            throw new ContractException(ErrorCode.INVALID_ENVELOPE, "column type tag is unknown: tag=" + tag);
        }
        return BY_TAG[tag];
    }
}
