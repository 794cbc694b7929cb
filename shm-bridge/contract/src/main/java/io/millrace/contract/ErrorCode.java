package io.millrace.contract;

import java.util.HashMap;
import java.util.Map;

/**
 * Why a request was not answered, by blame, with the one SQLSTATE it becomes in PostgreSQL.
 *
 * <p>The number crosses the shared region in a slot's status field, so a number once published keeps its meaning.
 * Ranges: user {@code 1..65535}, internal {@code 65536..131071}, resources {@code 131072..}.
 */
public enum ErrorCode {
    OK(0, "00000"),

    MISSING_COLUMN(1, "42703"),
    UNKNOWN_COLUMN(2, "42703"),
    WRONG_LENGTH(3, "22023"),
    WRONG_TYPE(4, "42804"),
    NOT_NUMERIC(5, "42804"),
    NULL_ROW(6, "22004"),
    EMPTY_BATCH(7, "22023"),
    UNSUPPORTED_KIND(8, "0A000"),
    WRONG_TASK(9, "42809"),
    INVALID_VALUE(10, "22023"),
    INVALID_LABEL(11, "22023"),
    INVALID_CONFIG(12, "F0000"),
    UNSUPPORTED_TYPE(13, "0A000"),
    NO_ROWS(14, "02000"),
    CANCELLED(15, "57014"),
    NOT_CAPTURED(16, "55000"),
    AMBIGUOUS_COLUMN(17, "42702"),

    INTERNAL(65536, "XX000"),
    INVALID_ENVELOPE(65537, "08P01"),
    UNKNOWN_VERSION(65538, "0A000"),
    NEED_MODEL(65539, "55000"),
    NEED_DESCRIPTOR(65540, "08P01"),
    CORRUPT_PACKAGE(65541, "XX001"),
    CORRUPT_FITTED(65542, "XX001"),
    CORRUPT_MATRIX(65543, "XX001"),
    CORRUPT_LAYOUT(65544, "XX001"),
    SCORER_FAILED(65545, "38000"),

    QUEUE_FULL(131072, "53400"),
    MODEL_TOO_LARGE(131073, "53200"),
    /** Not query_canceled, which PL/pgSQL's WHEN OTHERS lets pass. */
    DEADLINE_EXCEEDED(131074, "57P03"),
    SHUTTING_DOWN(131075, "57P01"),
    PAYLOAD_TOO_LARGE(131076, "54000"),
    STORE_UNAVAILABLE(131077, "58030"),
    NO_FREE_SLOT(131078, "53300"),
    GATEWAY_DOWN(131079, "57P03"),
    GATEWAY_LOST(131080, "08006"),
    OUT_OF_MEMORY(131081, "53200"),
    DISK_FULL(131082, "53100"),
    IO_FAILED(131083, "58030"),
    LIMIT_EXCEEDED(131084, "53400");

    /** First code of the range blamed on Millrace itself. */
    public static final int INTERNAL_BASE = 65536;

    /** First code of the range blamed on a limit or an outage. */
    public static final int RESOURCES_BASE = 131072;

    private static final Map<Integer, ErrorCode> BY_CODE = new HashMap<>();

    static {
        for (ErrorCode value : values()) {
            BY_CODE.put(value.code, value);
        }
    }

    private final int code;
    private final String sqlState;

    ErrorCode(int code, String sqlState) {
        this.code = code;
        this.sqlState = sqlState;
    }

    /** The number that crosses the slot; 0 is {@link #OK}. */
    public int code() {
        return code;
    }

    /** Five characters of PostgreSQL's SQLSTATE. */
    public String sqlState() {
        return sqlState;
    }

    /**
     * The code with a number.
     *
     * @param code as received from another process
     * @return its meaning; {@link #INTERNAL} for a number this version does not know, since an error must stay an error
     */
    public static ErrorCode of(int code) {
        ErrorCode known = BY_CODE.get(code);
        return known == null ? INTERNAL : known;
    }
}
