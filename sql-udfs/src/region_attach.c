#include "postgres.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "region_attach.h"
#include "settings.h"

#define MILLRACE_ATTACH_LIMIT 3 /* times to start over when the gateway is replaced meanwhile */
#define MILLRACE_POPULATE_WRITE 23	/* MADV_POPULATE_WRITE, which older headers lack */

MillraceRegion millrace_region;

/* The published layout file, read whole; one byte more than its length so that a longer file shows */
static char layout[MILLRACE_REGION_LENGTH + 1];

static uint32_t
layout_uint32(int offset)
{
	uint32_t	value;

	memcpy(&value, layout + offset, sizeof(value));
	return value;
}

static uint64_t
layout_uint64(int offset)
{
	uint64_t	value;

	memcpy(&value, layout + offset, sizeof(value));
	return value;
}

/* Raises for a file of the region that cannot be used, with the remedy for why */
static void
file_error(const char *path)
{
	if (errno == EACCES || errno == EPERM)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("the region of the gateway is not accessible"),
				 errdetail("Could not open file \"%s\": %m.", path),
				 errhint(MILLRACE_REGION_ACCESS_HINT)));
	ereport(ERROR,
			(errcode(ERRCODE_CANNOT_CONNECT_NOW),
			 errmsg("the gateway is not running"),
			 errdetail("Could not open file \"%s\": %m.", path),
			 errhint("Start the gateway, or set ml.region_dir to its region directory.")));
}

/* Raises for a layout that contradicts itself or its files */
static void
layout_error(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("the region of the gateway is damaged"),
			 errdetail_internal("%s", detail),
			 errhint("Restart the gateway: it makes a new region.")));
}

/* Raises for a gateway of another release */
static void
version_error(uint32_t version)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("the gateway and the extension are of different versions"),
			 errdetail("The gateway's layout version is %u, the extension's is %u.", version, MILLRACE_LAYOUT_VERSION),
			 errhint("Install the extension and the gateway of one release, then reconnect.")));
}

/* Whether this process is in a group */
static bool
in_group(gid_t group)
{
	gid_t		groups[NGROUPS_MAX];
	int			count = getgroups(lengthof(groups), groups);

	if (group == getegid())
		return true;
	for (int i = 0; i < count; i++)
	{
		if (groups[i] == group)
			return true;
	}
	return false;
}

/*
 * Raises for a directory in which a stranger may have put the files: what the
 * gateway answers is checked, but what is sent to it are rows of tables. The
 * gateway runs as our user, as root, or as one that shares a group with us.
 */
static void
directory_check(void)
{
	struct stat status;
	const char *reason = NULL;

	if (stat(millrace_region_dir, &status) != 0)
		return;					/* opening the layout says why */
	if (!S_ISDIR(status.st_mode))
		reason = "It is not a directory.";
	else if (status.st_mode & S_IWOTH)
		reason = "Everybody may write into it.";
	else if (status.st_uid != 0 && status.st_uid != geteuid() && !in_group(status.st_gid))
		reason = "It belongs to another operating system user, and not to a group of PostgreSQL's user.";
	if (reason != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CANNOT_CONNECT_NOW),
				 errmsg("region directory \"%s\" is not trusted", millrace_region_dir),
				 errdetail_internal("%s", reason),
				 errhint(MILLRACE_REGION_ACCESS_HINT)));
}

/* Reads and checks layout.bin */
static void
layout_read(void)
{
	char		path[MAXPGPATH];
	int			file;
	ssize_t		length;
	pg_crc32c	crc;

	directory_check();
	snprintf(path, sizeof(path), "%s/%s", millrace_region_dir, MILLRACE_REGION_FILE_NAME);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		file_error(path);
	length = read(file, layout, sizeof(layout));
	close(file);

	if (length < MILLRACE_REGION_ENTRIES_OFFSET || layout_uint64(MILLRACE_REGION_MAGIC_OFFSET) != MILLRACE_REGION_MAGIC)
		layout_error("layout.bin does not start as a region's layout does.");
	if (layout_uint32(MILLRACE_REGION_VERSION_OFFSET) != MILLRACE_LAYOUT_VERSION)
		version_error(layout_uint32(MILLRACE_REGION_VERSION_OFFSET));
	if (length != MILLRACE_REGION_LENGTH || layout_uint32(MILLRACE_REGION_LENGTH_OFFSET) != MILLRACE_REGION_LENGTH)
		layout_error("layout.bin has a wrong length.");
	INIT_CRC32C(crc);
	COMP_CRC32C(crc, layout, MILLRACE_REGION_CRC_OFFSET);
	FIN_CRC32C(crc);
	if (!EQ_CRC32C(crc, layout_uint32(MILLRACE_REGION_CRC_OFFSET)))
		layout_error("layout.bin has a wrong checksum.");
	if (layout_uint32(MILLRACE_REGION_SLOT_COUNT_OFFSET) != MILLRACE_SLOT_COUNT ||
		layout_uint32(MILLRACE_REGION_SLOT_LENGTH_OFFSET) != MILLRACE_SLOT_LENGTH)
		layout_error("layout.bin has a wrong slot count or slot length.");
}

/* Copies a name out of the layout; it must be terminated and name a file in the region directory */
static void
layout_name(int offset, char *name)
{
	memcpy(name, layout + offset, MILLRACE_REGION_NAME_LENGTH);
	if (memchr(name, '\0', MILLRACE_REGION_NAME_LENGTH) == NULL || name[0] == '\0' || strchr(name, '/') != NULL)
		layout_error("layout.bin has a malformed file name.");
}

/* Whether a range of bytes lies in a file at an aligned place */
static bool
range_fits(uint64_t offset, uint64_t length, uint64_t file_length)
{
	return offset % sizeof(uint64_t) == 0 && offset <= file_length && length <= file_length - offset;
}

/* Takes over the numbers of the layout, each checked against the file lengths */
static void
layout_take(MillraceRegion *region)
{
	uint64_t	control_offset = layout_uint64(MILLRACE_REGION_CONTROL_OFFSET_OFFSET);
	uint64_t	ready_offset = layout_uint64(MILLRACE_REGION_READY_OFFSET_OFFSET);

	strlcpy(region->directory, millrace_region_dir, sizeof(region->directory));
	layout_name(MILLRACE_REGION_SOCKET_NAME_OFFSET, region->socket_name);
	region->generation = layout_uint64(MILLRACE_REGION_GENERATION_OFFSET);
	region->heartbeat_limit_nanos = (int64) layout_uint64(MILLRACE_REGION_HEARTBEAT_LIMIT_OFFSET);
	region->request_slab_length = layout_uint32(MILLRACE_REGION_REQUEST_SLAB_LENGTH_OFFSET);
	region->response_slab_length = layout_uint32(MILLRACE_REGION_RESPONSE_SLAB_LENGTH_OFFSET);
	region->lines_length = layout_uint64(MILLRACE_REGION_LINES_FILE_BYTES_OFFSET);
	region->requests_length = layout_uint64(MILLRACE_REGION_REQUEST_FILE_BYTES_OFFSET);
	region->responses_length = layout_uint64(MILLRACE_REGION_RESPONSE_FILE_BYTES_OFFSET);
	if (!range_fits(control_offset, MILLRACE_CONTROL_LENGTH, region->lines_length) ||
		!range_fits(ready_offset, MILLRACE_READY_WORD_COUNT * sizeof(uint64_t), region->lines_length))
		layout_error("The control line or the ready bitmap lies outside its file.");

	for (int i = 0; i < MILLRACE_SLOT_COUNT; i++)
	{
		int			offset = MILLRACE_REGION_ENTRIES_OFFSET + i * MILLRACE_REGION_ENTRY_LENGTH;
		MillraceRegionEntry *entry = &region->entries[i];

		entry->slot_offset = layout_uint64(offset + MILLRACE_REGION_ENTRY_SLOT_OFFSET);
		entry->request_offset = layout_uint64(offset + MILLRACE_REGION_ENTRY_REQUEST_OFFSET);
		entry->response_offset = layout_uint64(offset + MILLRACE_REGION_ENTRY_RESPONSE_OFFSET);
		if (!range_fits(entry->slot_offset, MILLRACE_SLOT_LENGTH, region->lines_length) ||
			!range_fits(entry->request_offset, region->request_slab_length, region->requests_length) ||
			!range_fits(entry->response_offset, region->response_slab_length, region->responses_length))
			layout_error("A slot lies outside its file.");
	}
}

/* Maps one file of the region; NULL when it is gone because the gateway was replaced meanwhile */
static char *
file_map(int name_offset, size_t length, bool writable)
{
	char		name[MILLRACE_REGION_NAME_LENGTH];
	char		path[MAXPGPATH];
	struct stat status;
	int			file;
	char	   *mapped;

	layout_name(name_offset, name);
	snprintf(path, sizeof(path), "%s/%s", millrace_region_dir, name);
	file = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW);
	if (file < 0)
	{
		if (errno == ENOENT)
			return NULL;
		file_error(path);
	}
	if (fstat(file, &status) != 0 || (size_t) status.st_size < length || length == 0)
	{
		close(file);
		layout_error("A file of the region is shorter than layout.bin says.");
	}
	mapped = mmap(NULL, length, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file, 0);
	close(file);
	if (mapped == MAP_FAILED)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("could not map the region of the gateway: %m"),
				 errdetail("File \"%s\", %zu bytes.", path, length)));
	return mapped;
}

/* Maps the three files and finds the control line; false when the gateway was replaced meanwhile */
static bool
region_map(MillraceRegion *region)
{
	uint32_t	version;

	region->lines = file_map(MILLRACE_REGION_LINES_NAME_OFFSET, region->lines_length, true);
	if (region->lines == NULL)
		return false;
	region->requests = file_map(MILLRACE_REGION_REQUEST_NAME_OFFSET, region->requests_length, true);
	if (region->requests == NULL)
		return false;
	region->responses = file_map(MILLRACE_REGION_RESPONSE_NAME_OFFSET, region->responses_length, false);
	if (region->responses == NULL)
		return false;

	region->control = (MillraceControlLine *) (region->lines + layout_uint64(MILLRACE_REGION_CONTROL_OFFSET_OFFSET));
	region->ready = (_Atomic uint64_t *) (region->lines + layout_uint64(MILLRACE_REGION_READY_OFFSET_OFFSET));
	version = atomic_load(&region->control->version);
	if (version != MILLRACE_LAYOUT_VERSION)
		version_error(version);
	if (region->control->magic != MILLRACE_CONTROL_MAGIC || region->control->generation != region->generation)
		layout_error("The control line belongs to another region.");
	return true;
}

/* Maps the region of the gateway that serves ml.region_dir now, in place of any other */
void
millrace_region_attach(void)
{
	for (int i = 0; i < MILLRACE_ATTACH_LIMIT; i++)
	{
		millrace_region_detach();
		layout_read();
		layout_take(&millrace_region);
		if (region_map(&millrace_region))
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_CANNOT_CONNECT_NOW),
			 errmsg("the gateway is not running"),
			 errdetail("The files that layout.bin in \"%s\" names do not exist.", millrace_region_dir),
			 errhint("Start the gateway, or set ml.region_dir to its region directory.")));
}

/* Unmaps the region, also one that was only mapped in part */
void
millrace_region_detach(void)
{
	if (millrace_region.lines != NULL)
		munmap(millrace_region.lines, millrace_region.lines_length);
	if (millrace_region.requests != NULL)
		munmap(millrace_region.requests, millrace_region.requests_length);
	if (millrace_region.responses != NULL)
		munmap((void *) millrace_region.responses, millrace_region.responses_length);
	memset(&millrace_region, 0, sizeof(millrace_region));
}

/*
 * Makes sure that the request slab of a slot has its memory, before it is
 * written for the first time: a full tmpfs is an error here and would be SIGBUS
 * there. A kernel that cannot do that has got all of it from the gateway.
 */
void
millrace_region_hold_request(int slot)
{
	if (millrace_region.request_held[slot])
		return;
	while (madvise(millrace_region_request(slot), millrace_region.request_slab_length, MILLRACE_POPULATE_WRITE) != 0 && errno != EINVAL)
	{
		if (errno == EINTR || errno == EAGAIN)
		{
			CHECK_FOR_INTERRUPTS();
			continue;
		}
		ereport(ERROR,
				(errcode(ERRCODE_DISK_FULL),
				 errmsg("the region of the gateway has no memory for a request"),
				 errdetail("Directory \"%s\", %u bytes.", millrace_region.directory, millrace_region.request_slab_length),
				 errhint(MILLRACE_REGION_FULL_HINT)));
	}
	millrace_region.request_held[slot] = true;
}

/* Whether another generation has been published since this one was mapped */
bool
millrace_region_replaced(void)
{
	char		path[MAXPGPATH];
	char		head[MILLRACE_REGION_GENERATION_OFFSET + sizeof(uint64_t)];
	uint64_t	generation;
	int			file;
	ssize_t		length;

	snprintf(path, sizeof(path), "%s/%s", millrace_region_dir, MILLRACE_REGION_FILE_NAME);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	length = read(file, head, sizeof(head));
	close(file);
	if (length != sizeof(head))
		return false;
	memcpy(&generation, head + MILLRACE_REGION_GENERATION_OFFSET, sizeof(generation));
	return generation != millrace_region.generation;
}

/* Age of the heartbeat of the mapped region; nanoseconds, not negative */
int64
millrace_region_heartbeat_age_nanos(void)
{
	return Max(0, millrace_now_nanos() - atomic_load_explicit(&millrace_region.control->heartbeat_nanos, memory_order_relaxed));
}

/* What the control line of the mapped region says */
MillraceGatewayState
millrace_region_gateway_state(void)
{
	int64		limit = millrace_heartbeat_ms > 0 ? millrace_heartbeat_ms * INT64CONST(1000000) : millrace_region.heartbeat_limit_nanos;

	if (atomic_load_explicit(&millrace_region.control->state, memory_order_acquire) != MILLRACE_GATEWAY_SERVING)
		return MILLRACE_GATEWAY_STOPPING;
	if (millrace_region_heartbeat_age_nanos() > limit)
		return MILLRACE_GATEWAY_SILENT;
	return MILLRACE_GATEWAY_ALIVE;
}
