#include "postgres.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error_raise.h"
#include "miscadmin.h"
#include "payload_file.h"
#include "region_attach.h"
#include "utils/memutils.h"

#define MILLRACE_PAYLOAD_MODE 0640	/* the gateway reads it as a member of the directory's group */
#define MILLRACE_PAYLOAD_STEP (8 * 1024 * 1024) /* bytes between two looks at interrupts */

/* The path of one of a slot's files */
static void
payload_path(char *path, const char *prefix, int slot, uint64_t word)
{
	snprintf(path, MAXPGPATH, "%s/%s%" PRIx64 "/%s%d-%016" PRIx64, millrace_region.directory,
			 MILLRACE_PAYLOAD_DIRECTORY_PREFIX, millrace_region.generation, prefix, slot, word & ~UINT64CONST(0xff));
}

/* Raises because a file cannot be used */
static void
payload_error(const char *what, const char *path, size_t length, int error)
{
	errno = error;
	ereport(ERROR,
			(errcode(error == ENOSPC ? ERRCODE_DISK_FULL : error == EACCES ? ERRCODE_INSUFFICIENT_PRIVILEGE : ERRCODE_IO_ERROR),
			 errmsg("could not %s a payload of the gateway: %m", what),
			 errdetail("File \"%s\", %zu bytes.", path, length),
			 error == ENOSPC ? errhint("Enlarge the tmpfs of ml.region_dir, or send fewer or smaller rows.") :
			 error == EACCES ? errhint(MILLRACE_REGION_ACCESS_HINT) : 0));
}

/* Takes the memory of a file before it is written: a full tmpfs is an error here and would be SIGBUS there */
static int
payload_reserve(int file, size_t length)
{
	for (size_t offset = 0; offset < length; offset += MILLRACE_PAYLOAD_STEP)
	{
		int			error;

		do
			error = posix_fallocate(file, offset, Min(MILLRACE_PAYLOAD_STEP, length - offset));
		while (error == EINTR && !QueryCancelPending && !ProcDiePending);
		if (error != 0)
			return error;
	}
	return 0;
}

/* Makes and maps the file of a request. NULL when the gateway has been replaced and its directory is gone. */
char *
millrace_payload_create(int slot, uint64_t word, size_t length)
{
	char		path[MAXPGPATH];
	int			file;
	int			error;
	char	   *mapped = MAP_FAILED;

	payload_path(path, MILLRACE_PAYLOAD_REQUEST_PREFIX, slot, word);
	file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MILLRACE_PAYLOAD_MODE);
	if (file < 0)
	{
		if (errno == ENOENT)
			return NULL;
		payload_error("create", path, length, errno);
	}
	/* PostgreSQL's umask keeps the group out. */
	error = fchmod(file, MILLRACE_PAYLOAD_MODE) != 0 ? errno : payload_reserve(file, length);
	if (error == 0)
	{
		mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		error = mapped == MAP_FAILED ? errno : 0;
	}
	close(file);
	if (error == EINTR)
		CHECK_FOR_INTERRUPTS();
	if (error != 0)
		payload_error("write", path, length, error);
	return mapped;
}

/* Unmaps the file of a request that is written */
void
millrace_payload_close(char *payload, size_t length)
{
	munmap(payload, length);
}

/*
 * Reads the file of a response and removes it: memory of its own, that lives
 * until it is freed. NULL when the file is gone, with its gateway. It is read
 * and not mapped, so that nobody can change or cut it under the reader.
 */
char *
millrace_payload_read(int slot, uint64_t word, size_t length)
{
	char		path[MAXPGPATH];
	struct stat status;
	int			file;
	char	   *bytes;
	size_t		filled = 0;

	payload_path(path, MILLRACE_PAYLOAD_RESPONSE_PREFIX, slot, word);
	bytes = MemoryContextAlloc(TopMemoryContext, length);
	file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (file >= 0 && fstat(file, &status) == 0 && (size_t) status.st_size == length)
	{
		while (filled < length)
		{
			ssize_t		count = read(file, bytes + filled, Min(MILLRACE_PAYLOAD_STEP, length - filled));

			if (count == 0 || (count < 0 && errno != EINTR))
				break;
			filled += Max(count, 0);
		}
	}
	if (filled < length)
	{
		int			error = errno;
		bool		opened = file >= 0;

		if (opened)
			close(file);
		pfree(bytes);
		if (!opened && error == ENOENT)
			return NULL;
		if (opened)
			millrace_error_malformed("A response has another length than its slot says.");
		payload_error("read", path, length, error);
	}
	close(file);
	unlink(path);
	return bytes;
}

/* Removes what is left of a request's file */
void
millrace_payload_remove_request(int slot, uint64_t word)
{
	char		path[MAXPGPATH];

	payload_path(path, MILLRACE_PAYLOAD_REQUEST_PREFIX, slot, word);
	unlink(path);
}

/* Removes the file of a response that nobody will read */
void
millrace_payload_remove_response(int slot, uint64_t word)
{
	char		path[MAXPGPATH];

	payload_path(path, MILLRACE_PAYLOAD_RESPONSE_PREFIX, slot, word);
	unlink(path);
}
