#include "postgres.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "millrace_layout.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "word_sleep.h"

/*
 * Sleeping at a word of the region, futex(2), for short waits. It costs both
 * sides much less than the doorbell, whose rings are bytes in a socket, but who
 * sleeps so hears nothing else.
 */

/*
 * Sleeps while the word says so, until the gateway changes it, a signal comes or
 * the limit is over. A signal that comes just before, the end of the gateway or
 * of the postmaster are noticed after the limit: it must be short. Interrupts
 * raise from here.
 */
void
millrace_word_sleep(_Atomic uint32_t *word, int64 limit_nanos)
{
	struct timespec limit = {.tv_sec = limit_nanos / INT64CONST(1000000000), .tv_nsec = limit_nanos % INT64CONST(1000000000)};

	pgstat_report_wait_start(PG_WAIT_EXTENSION);
	syscall(SYS_futex, word, FUTEX_WAIT, MILLRACE_SLEEPER_AT_WORD, &limit, NULL, 0);
	pgstat_report_wait_end();
	CHECK_FOR_INTERRUPTS();
}

/* Wakes who sleeps at a word that has been changed */
void
millrace_word_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}
