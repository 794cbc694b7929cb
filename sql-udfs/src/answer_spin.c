#include "postgres.h"

#include <sched.h>

#include "answer_spin.h"
#include "region_attach.h"
#include "settings.h"
#include "slot_move.h"
#include "storage/s_lock.h"

#define MILLRACE_SPIN_BURST 16	/* looks between two readings of the clock */
#define MILLRACE_MISSES_MAX 2	/* in a row, before sleeping at once is the better bet */
#define MILLRACE_PAUSE 64		/* requests that then sleep at once, before the next try */

/* Whether a way to wait awake has paid lately */
typedef struct Trial
{
	int			misses;
	int			pause;
} Trial;

/* Whether to try it for this request */
static bool
trial_is_due(Trial *trial)
{
	if (trial->pause == 0)
		return true;
	trial->pause--;
	return false;
}

/* Notes how it went; returns just that */
static bool
trial_ended(Trial *trial, bool found)
{
	if (found)
		trial->misses = 0;
	else if (++trial->misses >= MILLRACE_MISSES_MAX)
	{
		trial->misses = MILLRACE_MISSES_MAX - 1;	/* one more miss is enough to pause again */
		trial->pause = MILLRACE_PAUSE;
	}
	return found;
}

/* Looks at the slot for ml.spin_us; true when the answer has come */
static bool
spin(int slot, uint64_t word)
{
	int64		end_nanos = millrace_now_nanos() + millrace_spin_us * INT64CONST(1000);

	do
	{
		for (int i = 0; i < MILLRACE_SPIN_BURST; i++)
		{
			if (millrace_slot_done(slot, word))
				return true;
			SPIN_DELAY();
		}
	} while (millrace_now_nanos() < end_nanos);
	return false;
}

/*
 * Waits for the answer of a slot without sleeping; true when it has come.
 *
 * A lone session is answered within ml.spin_us and saves two wake-ups. With some
 * sessions a yield lets the gateway run, which saves a sleep here and a wake-up
 * there; on an idle machine it returns at once. Where many sessions share few
 * cores both only take time from them. So each is tried while it pays, and now
 * and then.
 */
bool
millrace_answer_spin(int slot, uint64_t word)
{
	static Trial spins;
	static Trial yields;

	if (millrace_slot_done(slot, word))
		return true;
	if (millrace_spin_us > 0 && trial_is_due(&spins) && trial_ended(&spins, spin(slot, word)))
		return true;
	if (!trial_is_due(&yields))
		return false;
	sched_yield();
	return trial_ended(&yields, millrace_slot_done(slot, word));
}
