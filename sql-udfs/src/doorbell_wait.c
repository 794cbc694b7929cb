#include "postgres.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "doorbell_wait.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "region_attach.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/memutils.h"

#define MILLRACE_CONNECT_RETRY_MS 5
#define MILLRACE_WAIT_MAX_NANOS INT64CONST(100000000)	/* look at the heartbeat this often */

/* The connection of this backend to the gateway; each side writes bytes that mean only "look" */
static struct
{
	pgsocket	socket;			/* PGINVALID_SOCKET when closed */
	WaitEventSet *events;		/* latch, postmaster death, socket; lives as long as the socket */
	uint32		connection_id;
	bool		open;			/* the hello has arrived */
} doorbell = {PGINVALID_SOCKET, NULL, 0, false};

/* Raises because nobody answers at the socket */
static void
connect_error(const char *path)
{
	if (errno == EACCES || errno == EPERM)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("the region of the gateway is not accessible"),
				 errdetail("Could not connect to socket \"%s\": %m.", path),
				 errhint(MILLRACE_REGION_ACCESS_HINT)));
	ereport(ERROR,
			(errcode(ERRCODE_CANNOT_CONNECT_NOW),
			 errmsg("the gateway is not running"),
			 errdetail("Could not connect to socket \"%s\": %m.", path),
			 errhint("Start the gateway, or set ml.region_dir to its region directory.")));
}

/* Connects without ever blocking: a full backlog is tried again until the deadline */
static void
doorbell_connect(int64 deadline_nanos)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int			length = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s",
								  millrace_region.directory, millrace_region.socket_name);

	if (length >= sizeof(address.sun_path))
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("ml.region_dir is too long for a socket"),
				 errdetail("The socket's path has %d bytes, the limit is %zu.", length, sizeof(address.sun_path) - 1)));

	if (!AcquireExternalFD())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not open the doorbell of the gateway: too many open files")));
	doorbell.socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (doorbell.socket == PGINVALID_SOCKET)
	{
		ReleaseExternalFD();
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not open the doorbell of the gateway: %m")));
	}

	while (connect(doorbell.socket, (struct sockaddr *) &address, sizeof(address)) != 0)
	{
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN || millrace_now_nanos() > deadline_nanos)
			connect_error(address.sun_path);
		if (WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, MILLRACE_CONNECT_RETRY_MS, PG_WAIT_EXTENSION) & WL_LATCH_SET)
			ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Waits once for the socket or the latch; at most until the deadline. Returns whether the socket is readable. */
static bool
doorbell_wait_once(int64 deadline_nanos)
{
	WaitEvent	events[3];
	int64		left = Min(deadline_nanos - millrace_now_nanos(), MILLRACE_WAIT_MAX_NANOS);
	int			count;
	bool		readable = false;

	count = WaitEventSetWait(doorbell.events, left <= 0 ? 0 : (long) (left / 1000000 + 1), events, lengthof(events), PG_WAIT_EXTENSION);
	for (int i = 0; i < count; i++)
	{
		if (events[i].events & WL_SOCKET_READABLE)
			readable = true;
		if (events[i].events & WL_LATCH_SET)
			ResetLatch(MyLatch);
	}
	CHECK_FOR_INTERRUPTS();
	return readable;
}

/* Reads the gateway's first words. False when they are of another generation or do not come. */
static bool
doorbell_read_hello(int64 deadline_nanos)
{
	char		hello[MILLRACE_HELLO_LENGTH];
	int			filled = 0;
	uint32		magic;
	uint32		version;
	uint32		generation_low;

	while (filled < MILLRACE_HELLO_LENGTH)
	{
		ssize_t		length;

		if (!doorbell_wait_once(deadline_nanos))
		{
			if (millrace_now_nanos() > deadline_nanos || millrace_region_gateway_state() != MILLRACE_GATEWAY_ALIVE)
				return false;
			continue;
		}
		length = recv(doorbell.socket, hello + filled, MILLRACE_HELLO_LENGTH - filled, 0);
		if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR))
			return false;
		if (length > 0)
			filled += length;
	}
	memcpy(&magic, hello + MILLRACE_HELLO_MAGIC_OFFSET, sizeof(magic));
	memcpy(&version, hello + MILLRACE_HELLO_VERSION_OFFSET, sizeof(version));
	memcpy(&doorbell.connection_id, hello + MILLRACE_HELLO_CONNECTION_ID_OFFSET, sizeof(uint32));
	memcpy(&generation_low, hello + MILLRACE_HELLO_GENERATION_LOW_OFFSET, sizeof(generation_low));
	return magic == MILLRACE_HELLO_MAGIC && version == MILLRACE_LAYOUT_VERSION &&
		generation_low == (uint32) millrace_region.generation;
}

/* Connects to the gateway of the mapped region. False when it did not say hello; an error when nobody listens. */
bool
millrace_doorbell_open(int64 deadline_nanos)
{
	millrace_doorbell_close();
	doorbell_connect(deadline_nanos);
	doorbell.events = CreateWaitEventSet(TopMemoryContext, 3);
	AddWaitEventToSet(doorbell.events, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(doorbell.events, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	AddWaitEventToSet(doorbell.events, WL_SOCKET_READABLE, doorbell.socket, NULL, NULL);
	doorbell.open = doorbell_read_hello(deadline_nanos);
	return doorbell.open;
}

/* Closes the connection, also one that was only opened in part */
void
millrace_doorbell_close(void)
{
	if (doorbell.events != NULL)
		FreeWaitEventSet(doorbell.events);
	if (doorbell.socket != PGINVALID_SOCKET)
	{
		close(doorbell.socket);
		ReleaseExternalFD();
	}
	doorbell.events = NULL;
	doorbell.socket = PGINVALID_SOCKET;
	doorbell.open = false;
}

/* Whether the gateway has said hello and nothing has ended the connection since */
bool
millrace_doorbell_is_open(void)
{
	return doorbell.open;
}

/* The gateway's number for this connection */
uint32
millrace_doorbell_connection_id(void)
{
	return doorbell.connection_id;
}

/* Wakes the gateway. A full socket means that it has been rung already; a closed one shows when waiting. */
void
millrace_doorbell_ring(void)
{
	char		ring = MILLRACE_RING;
	ssize_t		sent pg_attribute_unused() = send(doorbell.socket, &ring, sizeof(ring), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Sleeps until rung, interrupted, or for a limited time. Interrupts raise from here. */
MillraceDoorbellResult
millrace_doorbell_wait(int64 limit_nanos)
{
	char		rings[64];
	ssize_t		length;

	if (!doorbell_wait_once(limit_nanos))
		return MILLRACE_DOORBELL_LOOK;
	length = recv(doorbell.socket, rings, sizeof(rings), MSG_DONTWAIT);
	if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR))
		return MILLRACE_DOORBELL_LOST;
	return MILLRACE_DOORBELL_LOOK;
}
