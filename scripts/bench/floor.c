#include "postgres.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/backendid.h"
#include "utils/builtins.h"

/*
 * The least that sessions and a server process can do for each other when both
 * sleep: a word for each session, a word for the server, futex(2), nothing read
 * and nothing computed. What scripts/bench/bridge holds the bridge against.
 */
PG_MODULE_MAGIC;

#define SESSION_COUNT 512
#define NOTHING 0
#define ASKED 1
#define ASKED_AND_SLEEPS 2
#define ANSWERED 3

typedef struct Word
{
	_Atomic uint32_t value;
	char		padding[60];	/* a cache line each */
} Word;

typedef struct Floor
{
	Word		server_sleeps;
	Word		sessions[SESSION_COUNT];
} Floor;

static Floor *
map_floor(const char *path)
{
	int			descriptor = open(path, O_RDWR | O_CREAT, 0600);
	void	   *memory;

	if (descriptor < 0 || ftruncate(descriptor, sizeof(Floor)) != 0)
		elog(ERROR, "could not open \"%s\": %m", path);
	memory = mmap(NULL, sizeof(Floor), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
	close(descriptor);
	if (memory == MAP_FAILED)
		elog(ERROR, "could not map \"%s\": %m", path);
	return memory;
}

/* With a limit: a sleep without one goes on after a signal, and nobody could end it */
static void
sleep_while(Word *word, uint32_t value)
{
	struct timespec limit = {.tv_sec = 1};

	syscall(SYS_futex, &word->value, FUTEX_WAIT, value, &limit, NULL, 0);
	CHECK_FOR_INTERRUPTS();
}

static void
wake(Word *word)
{
	syscall(SYS_futex, &word->value, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Answers whoever has asked; whether anybody had */
static bool
answer_all(Floor *floor)
{
	bool		any = false;

	for (int i = 0; i < SESSION_COUNT; i++)
	{
		uint32_t	seen = atomic_load_explicit(&floor->sessions[i].value, memory_order_relaxed);

		if (seen != ASKED && seen != ASKED_AND_SLEEPS)
			continue;
		any = true;
		if (atomic_exchange(&floor->sessions[i].value, ANSWERED) == ASKED_AND_SLEEPS)
			wake(&floor->sessions[i]);
	}
	return any;
}

PG_FUNCTION_INFO_V1(floor_serve);

/* floor_serve(path text): answers the sessions until it is cancelled */
Datum
floor_serve(PG_FUNCTION_ARGS)
{
	Floor	   *floor = map_floor(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	for (;;)
	{
		if (answer_all(floor))
			continue;
		atomic_store(&floor->server_sleeps.value, 1);
		if (!answer_all(floor)) /* who asked before the flag was up rings nobody */
			sleep_while(&floor->server_sleeps, 1);
		atomic_store(&floor->server_sleeps.value, 0);
	}
}

PG_FUNCTION_INFO_V1(floor_echo);

/* floor_echo(path text): asks the server, and sleeps until it has answered */
Datum
floor_echo(PG_FUNCTION_ARGS)
{
	static Floor *floor = NULL;
	Word	   *mine;
	uint32_t	sleeps = 1;
	uint32_t	asked = ASKED;

	if (floor == NULL)
		floor = map_floor(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	mine = &floor->sessions[MyBackendId % SESSION_COUNT];
	atomic_store(&mine->value, ASKED);
	if (atomic_compare_exchange_strong(&floor->server_sleeps.value, &sleeps, 0))
		wake(&floor->server_sleeps);
	atomic_compare_exchange_strong(&mine->value, &asked, ASKED_AND_SLEEPS);
	while (atomic_load(&mine->value) != ANSWERED)
		sleep_while(mine, ASKED_AND_SLEEPS);
	atomic_store(&mine->value, NOTHING);
	PG_RETURN_VOID();
}
