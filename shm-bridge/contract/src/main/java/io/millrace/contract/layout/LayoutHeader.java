package io.millrace.contract.layout;

import io.millrace.contract.ColumnType;
import io.millrace.contract.ErrorCode;

/**
 * The C header of every number both languages use: {@code sql-udfs/src/millrace_layout.h}. The Java side is the
 * authority; a test renders the header and compares it with the file.
 */
public final class LayoutHeader {
    private final StringBuilder text = new StringBuilder(16_384);

    private LayoutHeader() {}

    /** The header's text, the same for the same layout. */
    public static String render() {
        LayoutHeader header = new LayoutHeader();
        header.text
                .append("/*\n * Numbers shared with the gateway. Rendered from the Java layout classes of\n")
                .append(" * shm-bridge/contract and compared in a test: change them there.\n */\n")
                .append("#ifndef MILLRACE_LAYOUT_H\n#define MILLRACE_LAYOUT_H\n");
        header.slot();
        header.control();
        header.region();
        header.doorbell();
        header.request();
        header.response();
        header.payload();
        header.enumerations();
        header.errorCodes();
        header.text.append("\n#endif\n");
        return header.text.toString();
    }

    private void slot() {
        section("Slot line; offsets in bytes");
        define("SLOT_LENGTH", SlotLayout.LENGTH);
        define("SLOT_COUNT", SlotLayout.SLOT_COUNT);
        define("SLAB_LENGTH", SlotLayout.SLAB_LENGTH);
        define("SLOT_STATE_OFFSET", SlotLayout.STATE_OFFSET);
        define("SLOT_WAITER_OFFSET", SlotLayout.WAITER_OFFSET);
        define("SLOT_KIND_OFFSET", SlotLayout.KIND_OFFSET);
        define("SLOT_MODEL_KEY_OFFSET", SlotLayout.MODEL_KEY_OFFSET);
        define("SLOT_REQUEST_ID_OFFSET", SlotLayout.REQUEST_ID_OFFSET);
        define("SLOT_DEADLINE_OFFSET", SlotLayout.DEADLINE_OFFSET);
        define("SLOT_REQUEST_LENGTH_OFFSET", SlotLayout.REQUEST_LENGTH_OFFSET);
        define("SLOT_CONNECTION_ID_OFFSET", SlotLayout.CONNECTION_ID_OFFSET);
        define("SLOT_TRACE_ID_OFFSET", SlotLayout.TRACE_ID_OFFSET);
        define("SLOT_SPAN_ID_OFFSET", SlotLayout.SPAN_ID_OFFSET);
        define("SLOT_SUBMITTED_OFFSET", SlotLayout.SUBMITTED_OFFSET);
        define("SLOT_TAKEN_OFFSET", SlotLayout.TAKEN_OFFSET);
        define("SLOT_DONE_OFFSET", SlotLayout.DONE_OFFSET);
        define("SLOT_RESPONSE_LENGTH_OFFSET", SlotLayout.RESPONSE_LENGTH_OFFSET);
        define("SLOT_STATUS_OFFSET", SlotLayout.STATUS_OFFSET);
        define("SLOT_OWNER_START_OFFSET", SlotLayout.OWNER_START_OFFSET);
        define("SLOT_TRACE_FLAGS_OFFSET", SlotLayout.TRACE_FLAGS_OFFSET);

        section("Whether and where one side sleeps");
        define("SLEEPER_AWAKE", Sleeper.AWAKE);
        define("SLEEPER_AT_DOORBELL", Sleeper.AT_DOORBELL);
        define("SLEEPER_AT_WORD", Sleeper.AT_WORD);

        section("State word: generation:32, owner pid:24, state:8, from the highest bit");
        for (SlotState state : SlotState.values()) {
            define("STATE_" + state.name(), state.code());
        }
        macro("STATE_WORD(generation, pid, state)", """
                (((uint64_t) (uint32_t) (generation) << 32) | ((uint64_t) ((pid) & 0xffffff) << 8) | (uint64_t) (state))""");
        macro("STATE_GENERATION(word)", "((uint32_t) ((word) >> 32))");
        macro("STATE_OWNER_PID(word)", "((uint32_t) ((word) >> 8) & 0xffffff)");
        macro("STATE_CODE(word)", "((uint32_t) (word) & 0xff)");
    }

    private void control() {
        section("Control line and ready bitmap");
        define("LAYOUT_VERSION", ControlLayout.VERSION);
        define("CONTROL_LENGTH", ControlLayout.LENGTH);
        define64("CONTROL_MAGIC", ControlLayout.MAGIC);
        define("CONTROL_MAGIC_OFFSET", ControlLayout.MAGIC_OFFSET);
        define("CONTROL_VERSION_OFFSET", ControlLayout.VERSION_OFFSET);
        define("CONTROL_STATE_OFFSET", ControlLayout.STATE_OFFSET);
        define("CONTROL_GENERATION_OFFSET", ControlLayout.GENERATION_OFFSET);
        define("CONTROL_HEARTBEAT_OFFSET", ControlLayout.HEARTBEAT_OFFSET);
        define("CONTROL_GATEWAY_PID_OFFSET", ControlLayout.GATEWAY_PID_OFFSET);
        define("CONTROL_SLEEPING_OFFSET", ControlLayout.SLEEPING_OFFSET);
        define("GATEWAY_SERVING", ControlLayout.SERVING);
        define("GATEWAY_DRAINING", ControlLayout.DRAINING);
        define("GATEWAY_CLOSED", ControlLayout.CLOSED);
        define("READY_WORD_COUNT", ControlLayout.READY_WORD_COUNT);
    }

    private void region() {
        section("layout.bin");
        string("REGION_FILE_NAME", RegionLayout.FILE_NAME);
        define64("REGION_MAGIC", RegionLayout.MAGIC);
        define("REGION_LENGTH", RegionLayout.LENGTH);
        define("REGION_MAGIC_OFFSET", RegionLayout.MAGIC_OFFSET);
        define("REGION_VERSION_OFFSET", RegionLayout.VERSION_OFFSET);
        define("REGION_LENGTH_OFFSET", RegionLayout.LENGTH_OFFSET);
        define("REGION_GENERATION_OFFSET", RegionLayout.GENERATION_OFFSET);
        define("REGION_GATEWAY_PID_OFFSET", RegionLayout.GATEWAY_PID_OFFSET);
        define("REGION_SLOT_COUNT_OFFSET", RegionLayout.SLOT_COUNT_OFFSET);
        define("REGION_SLOT_LENGTH_OFFSET", RegionLayout.SLOT_LENGTH_OFFSET);
        define("REGION_REQUEST_SLAB_LENGTH_OFFSET", RegionLayout.REQUEST_SLAB_LENGTH_OFFSET);
        define("REGION_RESPONSE_SLAB_LENGTH_OFFSET", RegionLayout.RESPONSE_SLAB_LENGTH_OFFSET);
        define("REGION_LINES_FILE_BYTES_OFFSET", RegionLayout.LINES_FILE_BYTES_OFFSET);
        define("REGION_REQUEST_FILE_BYTES_OFFSET", RegionLayout.REQUEST_FILE_BYTES_OFFSET);
        define("REGION_RESPONSE_FILE_BYTES_OFFSET", RegionLayout.RESPONSE_FILE_BYTES_OFFSET);
        define("REGION_CONTROL_OFFSET_OFFSET", RegionLayout.CONTROL_OFFSET_OFFSET);
        define("REGION_READY_OFFSET_OFFSET", RegionLayout.READY_OFFSET_OFFSET);
        define("REGION_HEARTBEAT_LIMIT_OFFSET", RegionLayout.HEARTBEAT_LIMIT_OFFSET);
        define("REGION_NAME_LENGTH", RegionLayout.NAME_LENGTH);
        define("REGION_LINES_NAME_OFFSET", RegionLayout.LINES_NAME_OFFSET);
        define("REGION_REQUEST_NAME_OFFSET", RegionLayout.REQUEST_NAME_OFFSET);
        define("REGION_RESPONSE_NAME_OFFSET", RegionLayout.RESPONSE_NAME_OFFSET);
        define("REGION_SOCKET_NAME_OFFSET", RegionLayout.SOCKET_NAME_OFFSET);
        define("REGION_ENTRIES_OFFSET", RegionLayout.ENTRIES_OFFSET);
        define("REGION_ENTRY_LENGTH", RegionLayout.ENTRY_LENGTH);
        define("REGION_ENTRY_SLOT_OFFSET", RegionLayout.ENTRY_SLOT_OFFSET);
        define("REGION_ENTRY_REQUEST_OFFSET", RegionLayout.ENTRY_REQUEST_OFFSET);
        define("REGION_ENTRY_RESPONSE_OFFSET", RegionLayout.ENTRY_RESPONSE_OFFSET);
        define("REGION_CRC_OFFSET", RegionLayout.CRC_OFFSET);
    }

    private void doorbell() {
        section("Doorbell hello, gateway to backend");
        text.append("#define MILLRACE_HELLO_MAGIC 0x")
                .append(Integer.toHexString(DoorbellLayout.MAGIC))
                .append("u\n");
        define("HELLO_LENGTH", DoorbellLayout.LENGTH);
        define("HELLO_MAGIC_OFFSET", DoorbellLayout.MAGIC_OFFSET);
        define("HELLO_VERSION_OFFSET", DoorbellLayout.VERSION_OFFSET);
        define("HELLO_CONNECTION_ID_OFFSET", DoorbellLayout.CONNECTION_ID_OFFSET);
        define("HELLO_GENERATION_LOW_OFFSET", DoorbellLayout.GENERATION_LOW_OFFSET);
        define("RING", DoorbellLayout.RING);
    }

    private void request() {
        section("Request slab");
        define("ENVELOPE_VERSION", RequestLayout.VERSION);
        define("REQUEST_VERSION_OFFSET", RequestLayout.VERSION_OFFSET);
        define("REQUEST_FLAGS_OFFSET", RequestLayout.FLAGS_OFFSET);
        define("REQUEST_FLAG_BULK", RequestLayout.FLAG_BULK);
        define("REQUEST_ROW_COUNT_OFFSET", RequestLayout.ROW_COUNT_OFFSET);
        define("REQUEST_DESCRIPTOR_HASH_OFFSET", RequestLayout.DESCRIPTOR_HASH_OFFSET);
        define("REQUEST_DESCRIPTOR_LENGTH_OFFSET", RequestLayout.DESCRIPTOR_LENGTH_OFFSET);
        define("REQUEST_MODEL_REFERENCE_LENGTH_OFFSET", RequestLayout.MODEL_REFERENCE_LENGTH_OFFSET);
        define("REQUEST_ROWS_LENGTH_OFFSET", RequestLayout.ROWS_LENGTH_OFFSET);
        define("REQUEST_RESERVED_OFFSET", RequestLayout.RESERVED_OFFSET);
        define("REQUEST_TENANT_KEY_OFFSET", RequestLayout.TENANT_KEY_OFFSET);
        define("REQUEST_LIMITS_OFFSET", RequestLayout.LIMITS_OFFSET);
        define("REQUEST_HEADER_LENGTH", RequestLayout.HEADER_LENGTH);
        define("REQUEST_COLUMN_LIMIT", RequestLayout.COLUMN_LIMIT);
        define("REQUEST_NAME_LIMIT", RequestLayout.NAME_LIMIT);
        define("REQUEST_ROW_LIMIT", RequestLayout.ROW_LIMIT);
        define("REQUEST_MODEL_REFERENCE_LIMIT", RequestLayout.MODEL_REFERENCE_LIMIT);
        macro("FNV_OFFSET_BASIS", "UINT64_C(0xcbf29ce484222325)");
        macro("FNV_PRIME", "UINT64_C(0x100000001b3)");
    }

    private void response() {
        section("Response slab");
        define("RESPONSE_VERSION_OFFSET", ResponseLayout.VERSION_OFFSET);
        define("RESPONSE_VALUE_KIND_OFFSET", ResponseLayout.VALUE_KIND_OFFSET);
        define("RESPONSE_ROW_COUNT_OFFSET", ResponseLayout.ROW_COUNT_OFFSET);
        define("RESPONSE_MODEL_KEY_OFFSET", ResponseLayout.MODEL_KEY_OFFSET);
        define("RESPONSE_MODEL_ID_OFFSET", ResponseLayout.MODEL_ID_OFFSET);
        define("RESPONSE_HEADER_LENGTH", ResponseLayout.HEADER_LENGTH);
        define("RESPONSE_MESSAGE_LIMIT", ResponseLayout.MESSAGE_LIMIT);
    }

    private void payload() {
        section("Files of what does not fit a slab");
        define("PAYLOAD_ROWS_LENGTH_LIMIT", PayloadLayout.ROWS_LENGTH_LIMIT);
        define("PAYLOAD_LENGTH_LIMIT", PayloadLayout.LENGTH_LIMIT);
        string("PAYLOAD_DIRECTORY_PREFIX", PayloadLayout.DIRECTORY_PREFIX);
        string("PAYLOAD_REQUEST_PREFIX", PayloadLayout.REQUEST_PREFIX);
        string("PAYLOAD_RESPONSE_PREFIX", PayloadLayout.RESPONSE_PREFIX);
    }

    private void enumerations() {
        section("Request kinds");
        for (RequestKind kind : RequestKind.values()) {
            define("KIND_" + kind.name(), kind.code());
        }
        section("Value kinds");
        for (ValueKind kind : ValueKind.values()) {
            define("VALUE_" + kind.name(), kind.code());
        }
        section("Column types");
        for (ColumnType type : ColumnType.values()) {
            define("TYPE_" + type.name(), type.tag());
        }
    }

    private void errorCodes() {
        section("Error codes");
        define("ERROR_INTERNAL_BASE", ErrorCode.INTERNAL_BASE);
        define("ERROR_RESOURCES_BASE", ErrorCode.RESOURCES_BASE);
        for (ErrorCode code : ErrorCode.values()) {
            define("ERROR_" + code.name(), code.code());
        }
        section("X(name, code, the five characters of the SQLSTATE, ready for MAKE_SQLSTATE)");
        text.append("#define MILLRACE_ERROR_TABLE(X)");
        for (ErrorCode code : ErrorCode.values()) {
            text.append(" \\\n\tX(").append(code.name()).append(", ").append(code.code());
            for (char c : code.sqlState().toCharArray()) {
                text.append(", '").append(c).append('\'');
            }
            text.append(')');
        }
        text.append('\n');
    }

    private void section(String title) {
        text.append("\n/* ").append(title).append(" */\n");
    }

    private void define(String name, int value) {
        macro(name, Integer.toString(value));
    }

    private void define64(String name, long value) {
        macro(name, "UINT64_C(0x" + Long.toHexString(value) + ")");
    }

    private void string(String name, String value) {
        macro(name, '"' + value + '"');
    }

    private void macro(String name, String body) {
        text.append("#define MILLRACE_").append(name).append(' ').append(body).append('\n');
    }
}
