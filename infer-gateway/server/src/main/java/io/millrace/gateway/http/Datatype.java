package io.millrace.gateway.http;

import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.util.Arrays;

/** Datatypes of the protocol that rows are made of. */
enum Datatype {
    BOOL(1, ColumnType.BOOLEAN),
    INT8(1, ColumnType.INT64),
    INT16(2, ColumnType.INT64),
    INT32(4, ColumnType.INT64),
    INT64(8, ColumnType.INT64),
    UINT8(1, ColumnType.INT64),
    UINT16(2, ColumnType.INT64),
    UINT32(4, ColumnType.INT64),
    /** Only values that INT64 holds. */
    UINT64(8, ColumnType.INT64),
    FP32(4, ColumnType.FLOAT64),
    FP64(8, ColumnType.FLOAT64),
    /** UTF-8; also dates and timestamps, in ISO 8601. */
    BYTES(-1, ColumnType.TEXT);

    private final int length;
    private final ColumnType columnType;

    Datatype(int length, ColumnType columnType) {
        this.length = length;
        this.columnType = columnType;
    }

    /** Bytes of a value in a binary tensor; -1 when each value carries its own length. */
    int length() {
        return length;
    }

    /** What a column of such values is to a model. */
    ColumnType columnType() {
        return columnType;
    }

    /** Smallest and largest value of a datatype of whole numbers. */
    long min() {
        return switch (this) {
            case INT8 -> Byte.MIN_VALUE;
            case INT16 -> Short.MIN_VALUE;
            case INT32 -> Integer.MIN_VALUE;
            case INT64 -> Long.MIN_VALUE;
            default -> 0;
        };
    }

    long max() {
        return switch (this) {
            case INT8 -> Byte.MAX_VALUE;
            case INT16 -> Short.MAX_VALUE;
            case INT32 -> Integer.MAX_VALUE;
            case UINT8 -> 0xff;
            case UINT16 -> 0xffff;
            case UINT32 -> 0xffff_ffffL;
            default -> Long.MAX_VALUE;
        };
    }

    /** What a model says it wants for a column. */
    static Datatype of(ColumnType type) {
        return switch (type) {
            case BOOLEAN -> BOOL;
            case INT64 -> INT64;
            case FLOAT64 -> FP64;
            case TEXT, DATE, TIMESTAMP -> BYTES;
        };
    }

    static Datatype of(String input, String name) {
        for (Datatype datatype : values()) {
            if (datatype.name().equals(name)) {
                return datatype;
            }
        }
        throw new ContractException(
                ErrorCode.UNSUPPORTED_TYPE,
                "input datatype is not supported: input=" + input + ", datatype=" + name + ", supported="
                        + Arrays.toString(values()));
    }
}
