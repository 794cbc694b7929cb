#include "postgres.h"

#include "doorbell_wait.h"
#include "gateway_connect.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "region_attach.h"
#include "settings.h"
#include "storage/fd.h"
#include "storage/latch.h"

#define MILLRACE_CONNECT_LIMIT 3	/* times to start over when the gateway is replaced meanwhile */
#define MILLRACE_RESTART_POLL_MS 20 /* between two looks for a gateway that restarts */
#define MILLRACE_START_FIELD 22 /* of /proc/self/stat: start time in clock ticks since boot */
#define MILLRACE_KNOWN_DESCRIPTORS 64	/* power of two */

/* Hashes of the descriptors sent on this connection; a lost one costs a second round trip */
static uint64 known_descriptors[MILLRACE_KNOWN_DESCRIPTORS];

/* Whether a request can be submitted at once: mapped, connected, serving, alive, and of the directory set now */
bool
millrace_gateway_is_connected(void)
{
	return millrace_doorbell_is_open() && millrace_region.lines != NULL &&
		millrace_region_gateway_state() == MILLRACE_GATEWAY_ALIVE &&
		strcmp(millrace_region.directory, millrace_region_dir) == 0;
}

/* Raises because the heartbeat is too old */
void
millrace_gateway_silent_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_CANNOT_CONNECT_NOW),
			 errmsg("the gateway does not respond"),
			 errdetail("The last heartbeat of process " UINT64_FORMAT " was " INT64_FORMAT " ms ago.",
					   millrace_region.control->gateway_pid, millrace_region_heartbeat_age_nanos() / 1000000),
			 errhint("Look at the gateway's log, and restart it if it is stuck or gone.")));
	pg_unreachable();
}

/* Raises unless the mapped gateway serves. Before connecting: a stopped process still accepts. */
static void
check_serving(void)
{
	switch (millrace_region_gateway_state())
	{
		case MILLRACE_GATEWAY_ALIVE:
			return;
		case MILLRACE_GATEWAY_STOPPING:
			ereport(ERROR,
					(errcode(ERRCODE_CANNOT_CONNECT_NOW),
					 errmsg("the gateway is shutting down"),
					 errhint("Start the gateway again.")));
			break;
		case MILLRACE_GATEWAY_SILENT:
			millrace_gateway_silent_error();
	}
}

/* Maps the region and connects, in place of what was mapped. Raises when the gateway is not there. */
static void
connect_now(int64 deadline_nanos)
{
	for (int i = 0; i < MILLRACE_CONNECT_LIMIT; i++)
	{
		millrace_gateway_disconnect();
		millrace_region_attach();
		check_serving();
		if (millrace_doorbell_open(deadline_nanos))
			return;
	}
	millrace_gateway_disconnect();
	ereport(ERROR,
			(errcode(ERRCODE_CANNOT_CONNECT_NOW),
			 errmsg("the gateway did not say hello"),
			 errdetail("Its region directory is \"%s\".", millrace_region_dir),
			 errhint("Look at the gateway's log, and restart it if it is stuck.")));
}

/* The same, but false instead of an error when the gateway may come back */
static bool
try_connect(int64 deadline_nanos)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool connected = true;

	/* Nothing runs in there but this library, which cleans up after itself: no subtransaction is needed. */
	PG_TRY();
	{
		connect_now(deadline_nanos);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_CANNOT_CONNECT_NOW)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
		millrace_gateway_disconnect();
		connected = false;
	}
	PG_END_TRY();
	return connected;
}

/* Connects, waiting for a gateway that is not there as long as ml.restart_wait_ms and the deadline allow */
void
millrace_gateway_connect(int64 deadline_nanos)
{
	int64		wait_end_nanos = Min(deadline_nanos, millrace_now_nanos() + millrace_restart_wait_ms * INT64CONST(1000000));

	while (millrace_now_nanos() < wait_end_nanos)
	{
		if (try_connect(deadline_nanos))
			return;
		if (WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, MILLRACE_RESTART_POLL_MS, PG_WAIT_EXTENSION) & WL_LATCH_SET)
			ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	connect_now(deadline_nanos);
}

/* Closes the connection and unmaps the region */
void
millrace_gateway_disconnect(void)
{
	millrace_doorbell_close();
	millrace_region_detach();
	memset(known_descriptors, 0, sizeof(known_descriptors));
}

/* When this backend started, in clock ticks since boot; 0 when it cannot be read */
uint64
millrace_gateway_owner_start(void)
{
	static uint64 start = 0;
	char		status[1024];
	char	   *field;
	FILE	   *file;
	size_t		length;

	if (start != 0 || (file = AllocateFile("/proc/self/stat", "r")) == NULL)
		return start;
	length = fread(status, 1, sizeof(status) - 1, file);
	FreeFile(file);
	status[length] = '\0';

	/* The command in parentheses may hold blanks; field 3 follows the last parenthesis. */
	field = strrchr(status, ')');
	for (int i = 2; field != NULL && i < MILLRACE_START_FIELD; i++)
		field = strchr(field + 1, ' ');
	if (field != NULL)
		start = strtoull(field + 1, NULL, 10);
	return start;
}

/* Whether the gateway has this descriptor from this connection already */
bool
millrace_gateway_knows_descriptor(uint64 hash)
{
	return known_descriptors[hash % MILLRACE_KNOWN_DESCRIPTORS] == hash;
}

/* Remembers that the gateway has a descriptor now */
void
millrace_gateway_note_descriptor(uint64 hash)
{
	known_descriptors[hash % MILLRACE_KNOWN_DESCRIPTORS] = hash;
}
