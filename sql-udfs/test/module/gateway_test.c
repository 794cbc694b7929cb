/*
 * A made-up gateway: a thread of this backend that serves a region of its own,
 * echoes what it is sent, and numbers the rows it is asked to predict. With it the tests reach the other side of a slot.
 */
#include "postgres.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "utils/builtins.h"

#include "gateway_connect.h"
#include "region_attach.h"
#include "request_wait.h"
#include "settings.h"
#include "slot_move.h"

#define SLAB_LENGTH 4096
#define CONTROL_OFFSET (MILLRACE_SLOT_COUNT * MILLRACE_SLOT_LENGTH)
#define READY_OFFSET (CONTROL_OFFSET + MILLRACE_CONTROL_LENGTH)
#define LINES_LENGTH (READY_OFFSET + MILLRACE_READY_WORD_COUNT * 8)
#define SLABS_LENGTH (MILLRACE_SLOT_COUNT * SLAB_LENGTH)
#define GENERATION UINT64CONST(7)
#define HEARTBEAT_LIMIT INT64CONST(60000000000)

static pthread_t thread;
static _Atomic bool running;
static _Atomic bool mute;		/* takes requests and never answers */
static _Atomic bool refusing;	/* says that it shuts down */
static _Atomic bool lying;		/* gives its next answer a wrong length */
static char directory[MAXPGPATH];
static int	listening;
static char *lines;
static char *requests;
static char *responses;
static _Atomic uint64_t limits_seen;	/* of the latest request about rows */
static _Atomic bool bulk_seen;
static char trace_seen[64];		/* of the latest request; written before its answer is handed over */

static void
put(char *bytes, int offset, uint64 value, int length)
{
	memcpy(bytes + offset, &value, length);
}

/* Makes and maps one file of the region */
static char *
file_make(const char *name, size_t length)
{
	char		path[MAXPGPATH];
	int			file;
	char	   *mapped;

	snprintf(path, sizeof(path), "%s/%s", millrace_region_dir, name);
	file = open(path, O_RDWR | O_CREAT, 0600);
	if (file < 0 || ftruncate(file, length) != 0)
		elog(ERROR, "could not make file \"%s\": %m", path);
	mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (mapped == MAP_FAILED)
		elog(ERROR, "could not map file \"%s\": %m", path);
	return mapped;
}

/* Makes layout.bin */
static void
layout_make(void)
{
	char	   *layout = file_make(MILLRACE_REGION_FILE_NAME, MILLRACE_REGION_LENGTH);
	pg_crc32c	crc;

	put(layout, MILLRACE_REGION_MAGIC_OFFSET, MILLRACE_REGION_MAGIC, 8);
	put(layout, MILLRACE_REGION_VERSION_OFFSET, MILLRACE_LAYOUT_VERSION, 4);
	put(layout, MILLRACE_REGION_LENGTH_OFFSET, MILLRACE_REGION_LENGTH, 4);
	put(layout, MILLRACE_REGION_GENERATION_OFFSET, GENERATION, 8);
	put(layout, MILLRACE_REGION_SLOT_COUNT_OFFSET, MILLRACE_SLOT_COUNT, 4);
	put(layout, MILLRACE_REGION_SLOT_LENGTH_OFFSET, MILLRACE_SLOT_LENGTH, 4);
	put(layout, MILLRACE_REGION_REQUEST_SLAB_LENGTH_OFFSET, SLAB_LENGTH, 4);
	put(layout, MILLRACE_REGION_RESPONSE_SLAB_LENGTH_OFFSET, SLAB_LENGTH, 4);
	put(layout, MILLRACE_REGION_LINES_FILE_BYTES_OFFSET, LINES_LENGTH, 8);
	put(layout, MILLRACE_REGION_REQUEST_FILE_BYTES_OFFSET, SLABS_LENGTH, 8);
	put(layout, MILLRACE_REGION_RESPONSE_FILE_BYTES_OFFSET, SLABS_LENGTH, 8);
	put(layout, MILLRACE_REGION_CONTROL_OFFSET_OFFSET, CONTROL_OFFSET, 8);
	put(layout, MILLRACE_REGION_READY_OFFSET_OFFSET, READY_OFFSET, 8);
	put(layout, MILLRACE_REGION_HEARTBEAT_LIMIT_OFFSET, HEARTBEAT_LIMIT, 8);
	strcpy(layout + MILLRACE_REGION_LINES_NAME_OFFSET, "lines");
	strcpy(layout + MILLRACE_REGION_REQUEST_NAME_OFFSET, "requests");
	strcpy(layout + MILLRACE_REGION_RESPONSE_NAME_OFFSET, "responses");
	strcpy(layout + MILLRACE_REGION_SOCKET_NAME_OFFSET, "doorbell");
	for (int i = 0; i < MILLRACE_SLOT_COUNT; i++)
	{
		int			entry = MILLRACE_REGION_ENTRIES_OFFSET + i * MILLRACE_REGION_ENTRY_LENGTH;

		put(layout, entry + MILLRACE_REGION_ENTRY_SLOT_OFFSET, i * MILLRACE_SLOT_LENGTH, 8);
		put(layout, entry + MILLRACE_REGION_ENTRY_REQUEST_OFFSET, i * SLAB_LENGTH, 8);
		put(layout, entry + MILLRACE_REGION_ENTRY_RESPONSE_OFFSET, i * SLAB_LENGTH, 8);
	}
	INIT_CRC32C(crc);
	COMP_CRC32C(crc, layout, MILLRACE_REGION_CRC_OFFSET);
	FIN_CRC32C(crc);
	put(layout, MILLRACE_REGION_CRC_OFFSET, crc, 4);
	munmap(layout, MILLRACE_REGION_LENGTH);
}

/* The path of a payload of a slot's use */
static void
payload_path(char *path, const char *prefix, int slot, uint64_t word)
{
	snprintf(path, MAXPGPATH, "%s/%s%" PRIx64 "/%s%d-%016" PRIx64, directory, MILLRACE_PAYLOAD_DIRECTORY_PREFIX, GENERATION,
			 prefix, slot, word & ~UINT64CONST(0xff));
}

/* Maps a payload, whose name goes: that of a request, or a new one of a response */
static char *
payload_map(const char *prefix, int slot, uint64_t word, size_t length)
{
	char		path[MAXPGPATH];
	bool		response = strcmp(prefix, MILLRACE_PAYLOAD_RESPONSE_PREFIX) == 0;
	int			file;
	char	   *mapped;

	payload_path(path, prefix, slot, word);
	file = open(path, response ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);
	if (file < 0 || (response && ftruncate(file, length) != 0))
		return NULL;
	mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (!response)
		unlink(path);
	return mapped;
}

/* Writes the header of a response */
static void
header_make(char *response, int value_kind, uint32 row_count, uint64 model_key)
{
	memset(response, 0, MILLRACE_RESPONSE_HEADER_LENGTH);
	put(response, MILLRACE_RESPONSE_VERSION_OFFSET, MILLRACE_ENVELOPE_VERSION, 2);
	put(response, MILLRACE_RESPONSE_VALUE_KIND_OFFSET, value_kind, 2);
	put(response, MILLRACE_RESPONSE_ROW_COUNT_OFFSET, row_count, 4);
	put(response, MILLRACE_RESPONSE_MODEL_KEY_OFFSET, model_key, 8);
}

/* The bytes of the request; returns the length of the response */
static uint32
echo(const char *request, char *response, uint32 length)
{
	header_make(response, MILLRACE_VALUE_BYTES, 1, 0);
	put(response, MILLRACE_RESPONSE_HEADER_LENGTH, MILLRACE_ERROR_OK, 4);
	put(response, MILLRACE_RESPONSE_HEADER_LENGTH + 4, length, 4);
	memcpy(response + MILLRACE_RESPONSE_HEADER_LENGTH + 8, request + MILLRACE_REQUEST_HEADER_LENGTH, length);
	return MILLRACE_RESPONSE_HEADER_LENGTH + 8 + length;
}

/* The number of each row in its request, as a regression answers it */
static uint32
number_rows(const char *request, char *response, uint64 model_key)
{
	char	   *next = response + MILLRACE_RESPONSE_HEADER_LENGTH;
	uint32		row_count;

	memcpy(&row_count, request + MILLRACE_REQUEST_ROW_COUNT_OFFSET, sizeof(row_count));
	header_make(response, MILLRACE_VALUE_FULL, row_count, model_key);
	for (uint32 i = 0; i < row_count; i++)
	{
		float8		number = i;

		memset(next, 0, 20);	/* status, number, length of the label, count of the probabilities */
		memcpy(next + 4, &number, sizeof(number));
		next += 20;
	}
	return next - response;
}

/* Remembers who asked */
static void
note_tenant(const char *request)
{
	uint64		limits;
	uint16		flags;

	memcpy(&limits, request + MILLRACE_REQUEST_LIMITS_OFFSET, sizeof(limits));
	memcpy(&flags, request + MILLRACE_REQUEST_FLAGS_OFFSET, sizeof(flags));
	atomic_store(&limits_seen, limits);
	atomic_store(&bulk_seen, (flags & MILLRACE_REQUEST_FLAG_BULK) != 0);
}

/* Remembers whose trace it is part of, in the form of ml.traceparent */
static void
note_trace(const MillraceSlotLine *line)
{
	char	   *next = trace_seen + sprintf(trace_seen, "00-");

	for (int i = 0; i < sizeof(line->trace_id); i++)
		next += sprintf(next, "%02x", line->trace_id[i]);
	next += sprintf(next, "-");
	for (int i = 0; i < sizeof(line->span_id); i++)
		next += sprintf(next, "%02x", line->span_id[i]);
	sprintf(next, "-%02x", line->trace_flags);
}

/* Two metrics, one of them of a model, with numbers that JSON has no form for; returns the length of the response */
static uint32
tell_metrics(char *response)
{
	static const char text[] = "[{\"name\":\"millrace_rows_total\",\"labels\":{},\"value\":12.5},"
		"{\"name\":\"millrace_request_total\",\"labels\":{\"model\":\"churn/1\",\"kind\":\"predict\",\"code\":\"ok\"},\"value\":3},"
		"{\"name\":\"millrace_batch_rows_bucket\",\"labels\":{\"le\":\"+Inf\"},\"value\":\"NaN\"}]";
	uint32		length = sizeof(text) - 1;

	header_make(response, MILLRACE_VALUE_TEXT, 1, 0);
	put(response, MILLRACE_RESPONSE_HEADER_LENGTH, MILLRACE_ERROR_OK, 4);
	put(response, MILLRACE_RESPONSE_HEADER_LENGTH + 4, length, 4);
	memcpy(response + MILLRACE_RESPONSE_HEADER_LENGTH + 8, text, length);
	return MILLRACE_RESPONSE_HEADER_LENGTH + 8 + length;
}

/* Echoes a request through a file if its answer does not fit the slab; returns the length of the response */
static uint32
echo_anywhere(const char *request, int slot, uint64_t word)
{
	uint32		length;
	uint32		response_length;
	char	   *response = responses + slot * SLAB_LENGTH;

	memcpy(&length, request + MILLRACE_REQUEST_ROWS_LENGTH_OFFSET, sizeof(length));
	response_length = MILLRACE_RESPONSE_HEADER_LENGTH + 8 + length;
	if (response_length <= SLAB_LENGTH)
		return echo(request, response, length);
	response = payload_map(MILLRACE_PAYLOAD_RESPONSE_PREFIX, slot, word, response_length);
	echo(request, response, length);
	munmap(response, response_length);
	return response_length;
}

/* Answers the request in a slot, if any, and rings for who sleeps */
static void
answer(int slot, int connection)
{
	MillraceSlotLine *line = (MillraceSlotLine *) (lines + slot * MILLRACE_SLOT_LENGTH);
	char	   *request = requests + slot * SLAB_LENGTH;
	uint64_t	word = atomic_load(&line->state);
	uint64_t	next = (word & ~UINT64CONST(0xff)) | MILLRACE_STATE_RUNNING;

	if (MILLRACE_STATE_CODE(word) != MILLRACE_STATE_SUBMITTED || !atomic_compare_exchange_strong(&line->state, &word, next))
		return;
	if (line->request_length > SLAB_LENGTH)
		request = payload_map(MILLRACE_PAYLOAD_REQUEST_PREFIX, slot, word, line->request_length);
	note_trace(line);
	line->status = MILLRACE_ERROR_OK;
	if (atomic_load(&refusing))
	{
		line->status = MILLRACE_ERROR_SHUTTING_DOWN;
		line->response_length = 8;	/* an empty message and an empty hint */
		memset(responses + slot * SLAB_LENGTH, 0, 8);
	}
	else if (line->kind == MILLRACE_KIND_FULL)
	{
		note_tenant(request);
		line->response_length = number_rows(request, responses + slot * SLAB_LENGTH, line->model_key);
	}
	else if (line->kind == MILLRACE_KIND_METRICS)
		line->response_length = tell_metrics(responses + slot * SLAB_LENGTH);
	else
		line->response_length = echo_anywhere(request, slot, word);
	line->response_length += atomic_exchange(&lying, false) ? 1 : 0;
	if (line->request_length > SLAB_LENGTH)
		munmap(request, line->request_length);
	word = next;
	if (atomic_compare_exchange_strong(&line->state, &word, (next & ~UINT64CONST(0xff)) | MILLRACE_STATE_DONE))
	{
		char		ring = MILLRACE_RING;
		uint32_t	waiter = MILLRACE_SLEEPER_AT_WORD;
		ssize_t		sent pg_attribute_unused() = 0;

		if (atomic_compare_exchange_strong(&line->waiter, &waiter, MILLRACE_SLEEPER_AWAKE))
			syscall(SYS_futex, &line->waiter, FUTEX_WAKE, 1, NULL, NULL, 0);
		else if (waiter == MILLRACE_SLEEPER_AT_DOORBELL)
			sent = send(connection, &ring, sizeof(ring), MSG_NOSIGNAL);
	}
	else						/* abandoned */
		atomic_store(&line->state, (next & ~UINT64CONST(0xff)) | MILLRACE_STATE_FREE);
}

static void *
serve(void *argument)
{
	MillraceControlLine *control = (MillraceControlLine *) (lines + CONTROL_OFFSET);
	int			connection = -1;

	while (atomic_load(&running))
	{
		int			accepted = accept(listening, NULL, NULL);

		if (accepted >= 0)
		{
			char		hello[MILLRACE_HELLO_LENGTH];
			ssize_t		sent pg_attribute_unused();

			if (connection >= 0)
				close(connection);
			connection = accepted;
			put(hello, MILLRACE_HELLO_MAGIC_OFFSET, MILLRACE_HELLO_MAGIC, 4);
			put(hello, MILLRACE_HELLO_VERSION_OFFSET, MILLRACE_LAYOUT_VERSION, 4);
			put(hello, MILLRACE_HELLO_CONNECTION_ID_OFFSET, 1, 4);
			put(hello, MILLRACE_HELLO_GENERATION_LOW_OFFSET, GENERATION, 4);
			sent = send(connection, hello, sizeof(hello), MSG_NOSIGNAL);
		}
		atomic_store(&control->heartbeat_nanos, millrace_now_nanos());
		for (int i = 0; i < MILLRACE_SLOT_COUNT && !atomic_load(&mute); i++)
			answer(i, connection);
		usleep(500);
	}
	if (connection >= 0)
		close(connection);
	return NULL;
}

/* gateway_start(mute): serves ml.region_dir, which must be an empty directory, until gateway_stop() */
PG_FUNCTION_INFO_V1(gateway_start);
Datum
gateway_start(PG_FUNCTION_ARGS)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	MillraceControlLine *control;
	sigset_t	all;
	sigset_t	prior;
	int			failure;
	char		payloads[MAXPGPATH];

	strlcpy(directory, millrace_region_dir, sizeof(directory));
	snprintf(payloads, sizeof(payloads), "%s/%s%" PRIx64, directory, MILLRACE_PAYLOAD_DIRECTORY_PREFIX, GENERATION);
	if (mkdir(payloads, 0700) != 0)
		elog(ERROR, "could not make directory \"%s\": %m", payloads);
	lines = file_make("lines", LINES_LENGTH);
	requests = file_make("requests", SLABS_LENGTH);
	responses = file_make("responses", SLABS_LENGTH);
	control = (MillraceControlLine *) (lines + CONTROL_OFFSET);
	control->magic = MILLRACE_CONTROL_MAGIC;
	control->generation = GENERATION;
	atomic_store(&control->version, MILLRACE_LAYOUT_VERSION);
	atomic_store(&control->heartbeat_nanos, millrace_now_nanos());
	atomic_store(&control->state, MILLRACE_GATEWAY_SERVING);
	layout_make();

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/doorbell", millrace_region_dir);
	listening = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listening < 0 || bind(listening, (struct sockaddr *) &address, sizeof(address)) != 0 || listen(listening, 5) != 0)
		elog(ERROR, "could not listen: %m");
	atomic_store(&mute, PG_GETARG_BOOL(0));
	atomic_store(&running, true);
	/* Signals are for the backend's own thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &prior);
	failure = pthread_create(&thread, NULL, serve, NULL);
	pthread_sigmask(SIG_SETMASK, &prior, NULL);
	if (failure != 0)
		elog(ERROR, "could not start a thread");
	PG_RETURN_VOID();
}

/* gateway_limits(): what names the limits in the latest request about rows */
PG_FUNCTION_INFO_V1(gateway_limits);
Datum
gateway_limits(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) atomic_load(&limits_seen));
}

/* gateway_bulk(): whether it was said to be part of a large job */
PG_FUNCTION_INFO_V1(gateway_bulk);
Datum
gateway_bulk(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(atomic_load(&bulk_seen));
}

/* gateway_trace(): whose trace the latest request is part of */
PG_FUNCTION_INFO_V1(gateway_trace);
Datum
gateway_trace(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(trace_seen));
}

/* gateway_stop(): ends the thread; the files stay */
PG_FUNCTION_INFO_V1(gateway_stop);
Datum
gateway_stop(PG_FUNCTION_ARGS)
{
	millrace_gateway_disconnect();
	atomic_store(&running, false);
	pthread_join(thread, NULL);
	close(listening);
	munmap(lines, LINES_LENGTH);
	munmap(requests, SLABS_LENGTH);
	munmap(responses, SLABS_LENGTH);
	PG_RETURN_VOID();
}

/* gateway_lie(): the next answer has another length than its slot says */
PG_FUNCTION_INFO_V1(gateway_lie);
Datum
gateway_lie(PG_FUNCTION_ARGS)
{
	atomic_store(&lying, true);
	PG_RETURN_VOID();
}

/* gateway_refuse(refuse): requests are answered with SHUTTING_DOWN, and the control line says so */
PG_FUNCTION_INFO_V1(gateway_refuse);
Datum
gateway_refuse(PG_FUNCTION_ARGS)
{
	atomic_store(&refusing, PG_GETARG_BOOL(0));
	PG_RETURN_VOID();
}

/* gateway_state(state, version): what the control line says */
PG_FUNCTION_INFO_V1(gateway_state);
Datum
gateway_state(PG_FUNCTION_ARGS)
{
	MillraceControlLine *control = (MillraceControlLine *) (lines + CONTROL_OFFSET);

	atomic_store(&control->state, PG_GETARG_INT32(0));
	atomic_store(&control->version, PG_GETARG_INT32(1));
	PG_RETURN_VOID();
}

/* slots_take(count): has another process hold that many slots */
PG_FUNCTION_INFO_V1(slots_take);
Datum
slots_take(PG_FUNCTION_ARGS)
{
	for (int i = 0; i < PG_GETARG_INT32(0); i++)
		atomic_store(&((MillraceSlotLine *) (lines + i * MILLRACE_SLOT_LENGTH))->state,
					 MILLRACE_STATE_WORD(1, 1, MILLRACE_STATE_CLAIMED));
	PG_RETURN_VOID();
}

/* slots_held(): how many slots are not free */
PG_FUNCTION_INFO_V1(slots_held);
Datum
slots_held(PG_FUNCTION_ARGS)
{
	int			count = 0;

	for (int i = 0; i < MILLRACE_SLOT_COUNT; i++)
	{
		if (MILLRACE_STATE_CODE(atomic_load(&((MillraceSlotLine *) (lines + i * MILLRACE_SLOT_LENGTH))->state)) != MILLRACE_STATE_FREE)
			count++;
	}
	PG_RETURN_INT32(count);
}

static bool
echoed(MillraceRequest *request, const char *bytes)
{
	MillraceAnswer answer;
	bool		same = millrace_request_await(request, &answer) == MILLRACE_ERROR_OK &&
		answer.length == MILLRACE_RESPONSE_HEADER_LENGTH + 8 + strlen(bytes) &&
		memcmp(answer.bytes + MILLRACE_RESPONSE_HEADER_LENGTH + 8, bytes, strlen(bytes)) == 0;

	millrace_request_free(request);
	return same;
}

/* requests_overtake(): with two free slots, two requests and a third that does not wait and then one that does */
PG_FUNCTION_INFO_V1(requests_overtake);
Datum
requests_overtake(PG_FUNCTION_ARGS)
{
	const char *texts[] = {"first", "second", "third"};
	MillraceMessage messages[3] = {0};
	MillraceRequest *started[3];
	StringInfoData result;

	for (int i = 0; i < 3; i++)
	{
		messages[i].kind = MILLRACE_KIND_ECHO;
		messages[i].rows = texts[i];
		messages[i].rows_length = strlen(texts[i]);
	}
	started[0] = millrace_request_try_start(&messages[0]);
	started[1] = millrace_request_start(&messages[1]);
	initStringInfo(&result);
	appendStringInfo(&result, "without a free slot: %s", millrace_request_try_start(&messages[2]) == NULL ? "none" : "one");
	started[2] = millrace_request_start(&messages[2]);
	for (int i = 2; i >= 0; i--)
		appendStringInfo(&result, ", %s: %s", texts[i], echoed(started[i], texts[i]) ? "answered" : "wrong");
	PG_RETURN_TEXT_P(cstring_to_text(result.data));
}
