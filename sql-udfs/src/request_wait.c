#include "postgres.h"

#include "access/xact.h"
#include "answer_decode.h"
#include "answer_spin.h"
#include "doorbell_wait.h"
#include "error_raise.h"
#include "gateway_connect.h"
#include "miscadmin.h"
#include "payload_file.h"
#include "region_attach.h"
#include "request_wait.h"
#include "settings.h"
#include "slot_move.h"
#include "storage/ipc.h"
#include "trace_context.h"
#include "word_sleep.h"

#define MILLRACE_REQUEST_LIMIT 16	/* in flight of one backend: those of a batch and of what it calls */
#define MILLRACE_RESEND_LIMIT 6 /* the gateway may lack the descriptor and the model, and be replaced meanwhile */
#define MILLRACE_SLOT_WAIT_MIN_NANOS INT64CONST(1000000)	/* between two searches for a free slot */
#define MILLRACE_SLOT_WAIT_MAX_NANOS INT64CONST(8000000)
#define MILLRACE_LINE_WAIT_NANOS INT64CONST(5000000)	/* what takes longer is waited for at the doorbell */
#define MILLRACE_ANSWER_GRACE_NANOS INT64CONST(100000000)	/* after the deadline: the gateway knows better why it was missed */

struct MillraceRequest
{
	bool		used;
	int			slot;			/* MILLRACE_SLOT_NONE while it holds none */
	uint64_t	word;			/* state word of the claim */
	int			nest_level;		/* of the (sub)transaction that must give the slot back */
	int64		deadline_nanos;
	bool		given_up;		/* its slot was needed elsewhere: it is sent again when it is awaited */
	bool		taken;			/* its answer is being read */
	bool		with_descriptor;	/* sent with the latest attempt */
	bool		with_reference;
	bool		has_payload;	/* its request is in a file */
	char	   *answer;			/* its response, read from a file; NULL when it is in the slab */
	MillraceMessage message;
};

static MillraceRequest requests[MILLRACE_REQUEST_LIMIT];

/* Gives back the slot of a request, if it has one, and what it left in files */
static void
release_slot(MillraceRequest *request)
{
	if (request->slot != MILLRACE_SLOT_NONE)
	{
		if (request->has_payload)
			millrace_payload_remove_request(request->slot, request->word);
		if (request->answer == NULL && millrace_slot_done(request->slot, request->word) &&
			millrace_region_slot(request->slot)->response_length > millrace_region.response_slab_length)
			millrace_payload_remove_response(request->slot, request->word);
		millrace_slot_release(request->slot, request->word);
	}
	request->slot = MILLRACE_SLOT_NONE;
	request->has_payload = false;
	request->taken = false;
	if (request->answer != NULL)
		pfree(request->answer);
	request->answer = NULL;
}

/* Gives back what a request holds */
void
millrace_request_free(MillraceRequest *request)
{
	release_slot(request);
	request->used = false;
}

/* Gives back the slots of every request from a nesting level up */
static void
free_from_level(int nest_level)
{
	for (int i = 0; i < MILLRACE_REQUEST_LIMIT; i++)
	{
		if (requests[i].used && requests[i].nest_level >= nest_level)
			millrace_request_free(&requests[i]);
	}
}

/* An error anywhere ends in an abort: nobody has to catch it to give a slot back */
static void
on_transaction_end(XactEvent event, void *argument)
{
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_PARALLEL_ABORT ||
		event == XACT_EVENT_COMMIT || event == XACT_EVENT_PARALLEL_COMMIT || event == XACT_EVENT_PREPARE)
		free_from_level(0);
}

static void
on_subtransaction_end(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *argument)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		free_from_level(GetCurrentTransactionNestLevel());
}

/* A backend that is terminated in mid-wait leaves nothing behind */
static void
on_exit_backend(int code, Datum argument)
{
	free_from_level(0);
}

/* Registers the cleanups; once per backend */
void
millrace_request_init(void)
{
	for (int i = 0; i < MILLRACE_REQUEST_LIMIT; i++)
		requests[i].slot = MILLRACE_SLOT_NONE;
	RegisterXactCallback(on_transaction_end, NULL);
	RegisterSubXactCallback(on_subtransaction_end, NULL);
}

/* Gives up the region; what was in flight in it is sent again when it is awaited, since asking changes nothing */
static void
disconnect(void)
{
	for (int i = 0; i < MILLRACE_REQUEST_LIMIT; i++)
	{
		requests[i].given_up |= requests[i].slot != MILLRACE_SLOT_NONE;
		release_slot(&requests[i]);
	}
	millrace_gateway_disconnect();
}

/* Makes sure that the gateway can be asked */
static void
ensure_connected(int64 deadline_nanos)
{
	static bool exit_registered = false;

	if (millrace_gateway_is_connected())
		return;
	if (!exit_registered)
	{
		before_shmem_exit(on_exit_backend, 0);
		exit_registered = true;
	}
	disconnect();
	millrace_gateway_connect(deadline_nanos);
}

/* Maps the present region without asking anything, so that its control line can be read */
void
millrace_request_observe(void)
{
	if (millrace_gateway_is_connected())
		return;
	disconnect();
	millrace_region_attach();
}

/* What fits a slot of the gateway */
MillraceRoom
millrace_request_room(void)
{
	MillraceRoom room;

	ensure_connected(millrace_now_nanos() + millrace_timeout_ms * INT64CONST(1000000));
	room.request = millrace_region.request_slab_length - MILLRACE_REQUEST_HEADER_LENGTH;
	room.response = millrace_region.response_slab_length - MILLRACE_RESPONSE_HEADER_LENGTH;
	return room;
}

/* Raises for a request that the gateway would not take */
static void
check_length(const MillraceMessage *message, size_t length)
{
	if (message->rows_length > MILLRACE_PAYLOAD_ROWS_LENGTH_LIMIT || length > MILLRACE_PAYLOAD_LENGTH_LIMIT)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("request to the gateway is too large"),
				 errdetail("It has %u bytes in %u rows, the limit is %d bytes.",
						   message->rows_length, message->row_count, MILLRACE_PAYLOAD_ROWS_LENGTH_LIMIT)));
}

/*
 * Gives back the slots of this backend's other requests that are answered but
 * not read. Waiting for a slot while holding some is how many backends wait
 * for each other; asking once more costs only time.
 */
static void
give_up_answered(const MillraceRequest *waiting)
{
	for (int i = 0; i < MILLRACE_REQUEST_LIMIT; i++)
	{
		MillraceRequest *request = &requests[i];

		if (request == waiting || !request->used || request->taken || request->slot == MILLRACE_SLOT_NONE ||
			!millrace_slot_done(request->slot, request->word))
			continue;
		release_slot(request);
		request->given_up = true;
	}
}

/*
 * Waits for a free slot, in turns with looking at interrupts. That all slots are
 * in use is rare and over soon, so who frees one pays nothing for those who
 * wait: they look for it, less and less often. At one look in a millisecond 32
 * who wait would take a third of a core from those they wait for.
 */
static void
claim_slot(MillraceRequest *request)
{
	int64		pause_nanos = MILLRACE_SLOT_WAIT_MIN_NANOS;

	while ((request->slot = millrace_slot_claim(&request->word)) == MILLRACE_SLOT_NONE)
	{
		int64		now = millrace_now_nanos();

		give_up_answered(request);
		if (now > request->deadline_nanos)
			ereport(ERROR,
					(errcode(ERRCODE_TOO_MANY_CONNECTIONS),
					 errmsg("no slot of the gateway became free in time"),
					 errdetail("All %d slots were in use for %d ms.", MILLRACE_SLOT_COUNT, millrace_timeout_ms),
					 errhint("Raise ml.timeout_ms, or send fewer requests at once.")));
		if (millrace_doorbell_wait(Min(request->deadline_nanos, now + pause_nanos)) == MILLRACE_DOORBELL_LOST ||
			millrace_region_gateway_state() != MILLRACE_GATEWAY_ALIVE)
		{
			disconnect();
			ensure_connected(request->deadline_nanos);
		}
		pause_nanos = Min(2 * pause_nanos, MILLRACE_SLOT_WAIT_MAX_NANOS);
	}
}

/* Writes the envelope */
static void
write_envelope(const MillraceRequest *request, char *slab)
{
	const MillraceMessage *message = &request->message;
	char	   *next = slab + MILLRACE_REQUEST_HEADER_LENGTH;
	uint16		version = MILLRACE_ENVELOPE_VERSION;
	uint16		flags = message->bulk ? MILLRACE_REQUEST_FLAG_BULK : 0;
	uint32		descriptor_length = request->with_descriptor ? message->descriptor_length : 0;
	uint32		reference_length = request->with_reference ? message->reference_length : 0;

	memset(slab, 0, MILLRACE_REQUEST_HEADER_LENGTH);
	memcpy(slab + MILLRACE_REQUEST_VERSION_OFFSET, &version, sizeof(version));
	memcpy(slab + MILLRACE_REQUEST_FLAGS_OFFSET, &flags, sizeof(flags));
	memcpy(slab + MILLRACE_REQUEST_ROW_COUNT_OFFSET, &message->row_count, sizeof(uint32));
	memcpy(slab + MILLRACE_REQUEST_DESCRIPTOR_HASH_OFFSET, &message->descriptor_hash, sizeof(uint64));
	memcpy(slab + MILLRACE_REQUEST_DESCRIPTOR_LENGTH_OFFSET, &descriptor_length, sizeof(uint32));
	memcpy(slab + MILLRACE_REQUEST_MODEL_REFERENCE_LENGTH_OFFSET, &reference_length, sizeof(uint32));
	memcpy(slab + MILLRACE_REQUEST_ROWS_LENGTH_OFFSET, &message->rows_length, sizeof(uint32));
	memcpy(slab + MILLRACE_REQUEST_TENANT_KEY_OFFSET, &message->tenant_key, sizeof(uint64));
	memcpy(slab + MILLRACE_REQUEST_LIMITS_OFFSET, &message->limits, sizeof(uint64));
	if (descriptor_length > 0)
		memcpy(next, message->descriptor, descriptor_length);
	next += descriptor_length;
	if (reference_length > 0)
		memcpy(next, message->reference, reference_length);
	next += reference_length;
	if (message->rows_length > 0)
		memcpy(next, message->rows, message->rows_length);
}

/* Writes the request where the gateway will read it. False when there is no place: the gateway has been replaced. */
static bool
write_request(MillraceRequest *request, size_t length)
{
	char	   *payload;

	if (length <= millrace_region.request_slab_length)
	{
		millrace_slot_avoid(request->slot); /* if that raises, for want of memory */
		millrace_region_hold_request(request->slot);
		millrace_slot_avoid(MILLRACE_SLOT_NONE);
		write_envelope(request, millrace_region_request(request->slot));
		return true;
	}
	request->has_payload = true;
	payload = millrace_payload_create(request->slot, request->word, length);
	if (payload == NULL)
		return false;
	write_envelope(request, payload);
	millrace_payload_close(payload, length);
	return true;
}

/* Fills the slot line and hands the slot over */
static void
submit_slot(MillraceRequest *request, uint32 length)
{
	static uint64 request_count = 0;
	MillraceSlotLine *line = millrace_region_slot(request->slot);

	request_count++;
	line->kind = request->message.kind;
	line->model_key = request->message.model_key;
	line->request_id = (uint64) MyProcPid << 32 | (uint32) request_count;
	line->deadline_nanos = request->deadline_nanos;
	line->request_length = length;
	line->connection_id = millrace_doorbell_connection_id();
	line->owner_start = millrace_gateway_owner_start();
	line->submitted_nanos = millrace_now_nanos();
	millrace_trace_write(line, (uint64) line->submitted_nanos + line->request_id);
	atomic_store_explicit(&line->waiter, MILLRACE_SLEEPER_AWAKE, memory_order_relaxed);
	if (millrace_slot_submit(request->slot, &request->word))
		millrace_doorbell_ring();
}

/* Raises because the gateway is gone */
static void
lost_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_CANNOT_CONNECT_NOW),
			 errmsg("the gateway was lost while it worked on a request"),
			 errhint("Nothing was changed: ask again when the gateway has restarted.")));
}

/* Claims a slot, fills it and hands it over. Without waiting for a slot it returns false when none is free. */
static bool
send_request(MillraceRequest *request, bool wait_for_slot)
{
	const MillraceMessage *message = &request->message;

	for (int i = 0; i < MILLRACE_RESEND_LIMIT; i++)
	{
		size_t		length;

		ensure_connected(request->deadline_nanos);
		if (message->descriptor != NULL && !millrace_gateway_knows_descriptor(message->descriptor_hash))
			request->with_descriptor = true;
		length = (size_t) MILLRACE_REQUEST_HEADER_LENGTH + message->rows_length +
			(request->with_descriptor ? message->descriptor_length : 0) +
			(request->with_reference ? message->reference_length : 0);
		check_length(message, length);
		if (wait_for_slot)
			claim_slot(request);
		else
			request->slot = millrace_slot_claim(&request->word);
		if (request->slot == MILLRACE_SLOT_NONE)
			return false;
		request->given_up = false;
		if (write_request(request, length))
		{
			submit_slot(request, (uint32) length);
			return true;
		}
		disconnect();
	}
	lost_error();
	pg_unreachable();
}

/* A request of a message, not sent yet */
static MillraceRequest *
new_request(const MillraceMessage *message)
{
	MillraceRequest *request = NULL;

	for (int i = 0; i < MILLRACE_REQUEST_LIMIT && request == NULL; i++)
	{
		if (!requests[i].used)
			request = &requests[i];
	}
	if (request == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many requests to the gateway in flight in one session"),
				 errdetail("The limit is %d.", MILLRACE_REQUEST_LIMIT)));
	request->used = true;
	request->slot = MILLRACE_SLOT_NONE;
	request->nest_level = GetCurrentTransactionNestLevel();
	request->deadline_nanos = millrace_now_nanos() + millrace_timeout_ms * INT64CONST(1000000);
	request->with_descriptor = false;
	request->with_reference = message->send_reference;
	request->message = *message;
	request->given_up = false;
	request->taken = false;
	request->has_payload = false;
	request->answer = NULL;
	return request;
}

/* Sends a message; the answer is fetched by millrace_request_finish */
MillraceRequest *
millrace_request_start(const MillraceMessage *message)
{
	MillraceRequest *request = new_request(message);

	send_request(request, true);
	return request;
}

/* The same for who holds slots already and had better not wait for one more: NULL when none is free */
MillraceRequest *
millrace_request_try_start(const MillraceMessage *message)
{
	MillraceRequest *request = new_request(message);

	if (send_request(request, false))
		return request;
	millrace_request_free(request);
	return NULL;
}

/* Raises because the answer has not come by the deadline */
static void
check_deadline(const MillraceRequest *request)
{
	if (millrace_now_nanos() > request->deadline_nanos + MILLRACE_ANSWER_GRACE_NANOS)
		ereport(ERROR,
				(errcode(ERRCODE_CANNOT_CONNECT_NOW),	/* not query_canceled, which WHEN OTHERS lets pass */
				 errmsg("the gateway did not answer in time"),
				 errdetail("ml.timeout_ms is %d.", millrace_timeout_ms),
				 errhint("Look at the gateway's log, or raise ml.timeout_ms.")));
}

/* Sleeps at the slot line for as long as most answers take; true when this one has come */
static bool
wait_at_line(MillraceRequest *request)
{
	MillraceSlotLine *line = millrace_region_slot(request->slot);
	int64		end_nanos = millrace_now_nanos() + MILLRACE_LINE_WAIT_NANOS;
	int64		left_nanos = MILLRACE_LINE_WAIT_NANOS;

	/* More than once, since who answered this slot's last use may wake its next for nothing. */
	while (left_nanos > 0)
	{
		atomic_store(&line->waiter, MILLRACE_SLEEPER_AT_WORD);
		if (millrace_slot_done(request->slot, request->word))
			return true;
		millrace_word_sleep(&line->waiter, left_nanos);
		if (millrace_slot_done(request->slot, request->word))
			return true;
		left_nanos = end_nanos - millrace_now_nanos();
	}
	return false;
}

/* Waits until the slot is answered. False when the gateway is gone, with the request or before it came. */
static bool
wait_until_done(MillraceRequest *request)
{
	MillraceSlotLine *line = millrace_region_slot(request->slot);

	if (millrace_answer_spin(request->slot, request->word) || wait_at_line(request))
		return true;
	for (;;)
	{
		MillraceDoorbellResult result;

		check_deadline(request);
		/* Said before the last look: the gateway reads it after it has answered. */
		atomic_store(&line->waiter, MILLRACE_SLEEPER_AT_DOORBELL);
		if (millrace_slot_done(request->slot, request->word))
			return true;
		if (!millrace_slot_owned(request->slot, request->word))
			return false;
		result = millrace_doorbell_wait(request->deadline_nanos + MILLRACE_ANSWER_GRACE_NANOS);
		if (millrace_slot_done(request->slot, request->word))
			return true;
		if (result == MILLRACE_DOORBELL_LOST)
			return false;
		if (millrace_region_gateway_state() == MILLRACE_GATEWAY_SILENT)
			millrace_gateway_silent_error();
	}
}

/*
 * Waits for the answer. A request whose gateway was replaced, or will be while
 * ml.restart_wait_ms lasts, is asked once more, since asking changes nothing.
 */
static void
await_answer(MillraceRequest *request)
{
	if (request->given_up)
	{
		request->deadline_nanos = millrace_now_nanos() + millrace_timeout_ms * INT64CONST(1000000);
		send_request(request, true);
	}
	if (request->slot != MILLRACE_SLOT_NONE && wait_until_done(request))
		return;
	if (request->slot != MILLRACE_SLOT_NONE && (millrace_restart_wait_ms > 0 || millrace_region_replaced()))
	{
		disconnect();
		send_request(request, true);
		if (wait_until_done(request))
			return;
	}
	release_slot(request);
	lost_error();
}

/* Takes the status and the response of an answered slot; every length read once and checked */
static uint32
take_answer(MillraceRequest *request, MillraceAnswer *answer)
{
	const MillraceSlotLine *line = millrace_region_slot(request->slot);

	if (line->status == MILLRACE_ERROR_DISK_FULL)
		millrace_slot_avoid(request->slot);
	answer->bytes = millrace_region_response(request->slot);
	answer->length = *(const volatile uint32_t *) &line->response_length;
	if (answer->length > MILLRACE_PAYLOAD_LENGTH_LIMIT)
		millrace_error_malformed("The response is longer than any may be.");
	if (answer->length > millrace_region.response_slab_length)
	{
		request->answer = millrace_payload_read(request->slot, request->word, answer->length);
		if (request->answer == NULL)
			lost_error();
		answer->bytes = request->answer;
	}
	request->taken = true;
	return *(const volatile uint32_t *) &line->status;
}

/* Whether a refused request had better be asked again: the gateway ends, and its successor is waited for */
static bool
awaits_successor(const MillraceRequest *request, uint32 status)
{
	return status == MILLRACE_ERROR_SHUTTING_DOWN && millrace_restart_wait_ms > 0 &&
		millrace_now_nanos() < request->deadline_nanos;
}

/* Waits for the answer of a request, sending what the gateway lacks. Returns the status that the gateway gave. */
uint32
millrace_request_await(MillraceRequest *request, MillraceAnswer *answer)
{
	for (int i = 0; i < MILLRACE_RESEND_LIMIT; i++)
	{
		uint32		status;

		await_answer(request);
		status = take_answer(request, answer);
		if (status == MILLRACE_ERROR_OK && request->with_descriptor)
			millrace_gateway_note_descriptor(request->message.descriptor_hash);
		if (status == MILLRACE_ERROR_NEED_DESCRIPTOR && request->message.descriptor != NULL)
			request->with_descriptor = true;
		else if (status == MILLRACE_ERROR_NEED_MODEL && request->message.reference != NULL && !request->with_reference)
			request->with_reference = true;
		else if (awaits_successor(request, status))
			disconnect();
		else
			return status;
		release_slot(request);
		send_request(request, true);
	}
	ereport(ERROR,
			(errcode(ERRCODE_PROTOCOL_VIOLATION),
			 errmsg("the gateway asks again and again for what it was sent")));
	pg_unreachable();
}

/* Waits for the answer of a request and returns the response; raises what the gateway reported */
MillraceAnswer
millrace_request_finish(MillraceRequest *request)
{
	MillraceAnswer answer;
	uint32		status = millrace_request_await(request, &answer);

	if (status != MILLRACE_ERROR_OK)
		millrace_answer_raise(status, answer);
	return answer;
}
