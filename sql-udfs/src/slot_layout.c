#include "postgres.h"

#include "slot_layout.h"

#ifdef WORDS_BIGENDIAN
#error "the shared region is little-endian"
#endif

#define ASSERT_OFFSET(type, field, offset) \
	StaticAssertDecl(offsetof(type, field) == (offset), #type "." #field " differs from the layout")

StaticAssertDecl(sizeof(MillraceSlotLine) == MILLRACE_SLOT_LENGTH, "slot line length differs from the layout");
ASSERT_OFFSET(MillraceSlotLine, state, MILLRACE_SLOT_STATE_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, waiter, MILLRACE_SLOT_WAITER_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, kind, MILLRACE_SLOT_KIND_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, model_key, MILLRACE_SLOT_MODEL_KEY_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, request_id, MILLRACE_SLOT_REQUEST_ID_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, deadline_nanos, MILLRACE_SLOT_DEADLINE_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, request_length, MILLRACE_SLOT_REQUEST_LENGTH_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, connection_id, MILLRACE_SLOT_CONNECTION_ID_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, trace_id, MILLRACE_SLOT_TRACE_ID_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, span_id, MILLRACE_SLOT_SPAN_ID_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, submitted_nanos, MILLRACE_SLOT_SUBMITTED_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, taken_nanos, MILLRACE_SLOT_TAKEN_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, done_nanos, MILLRACE_SLOT_DONE_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, response_length, MILLRACE_SLOT_RESPONSE_LENGTH_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, status, MILLRACE_SLOT_STATUS_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, owner_start, MILLRACE_SLOT_OWNER_START_OFFSET);
ASSERT_OFFSET(MillraceSlotLine, trace_flags, MILLRACE_SLOT_TRACE_FLAGS_OFFSET);

StaticAssertDecl(sizeof(MillraceControlLine) == MILLRACE_CONTROL_LENGTH, "control line length differs from the layout");
ASSERT_OFFSET(MillraceControlLine, magic, MILLRACE_CONTROL_MAGIC_OFFSET);
ASSERT_OFFSET(MillraceControlLine, version, MILLRACE_CONTROL_VERSION_OFFSET);
ASSERT_OFFSET(MillraceControlLine, state, MILLRACE_CONTROL_STATE_OFFSET);
ASSERT_OFFSET(MillraceControlLine, generation, MILLRACE_CONTROL_GENERATION_OFFSET);
ASSERT_OFFSET(MillraceControlLine, heartbeat_nanos, MILLRACE_CONTROL_HEARTBEAT_OFFSET);
ASSERT_OFFSET(MillraceControlLine, gateway_pid, MILLRACE_CONTROL_GATEWAY_PID_OFFSET);
ASSERT_OFFSET(MillraceControlLine, sleeping, MILLRACE_CONTROL_SLEEPING_OFFSET);

StaticAssertDecl(MILLRACE_REGION_LENGTH == MILLRACE_REGION_CRC_OFFSET + 4, "layout.bin length differs from the layout");
StaticAssertDecl(MILLRACE_REGION_CRC_OFFSET ==
				 MILLRACE_REGION_ENTRIES_OFFSET + MILLRACE_SLOT_COUNT * MILLRACE_REGION_ENTRY_LENGTH,
				 "layout.bin entries differ from the layout");
StaticAssertDecl(MILLRACE_READY_WORD_COUNT * 64 == MILLRACE_SLOT_COUNT, "ready bitmap differs from the slot count");
