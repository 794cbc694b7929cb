#include "postgres.h"

#include <sched.h>

#include "answer_spin.h"
#include "region_attach.h"
#include "settings.h"
#include "slot_move.h"
#include "storage/s_lock.h"

#define MILLRACE_SPIN_BURST 16	/* looks between two readings of the clock */
#define MILLRACE_SPIN_MISSES 2	/* in a row, before sleeping at once is the better bet */
#define MILLRACE_SPIN_PAUSE 64	/* calls that then sleep at once, before the next try */
#define MILLRACE_YIELD_LIMIT 2	/* times that others run before sleeping */

/*
 * Looks at the slot for ml.spin_us; true when the answer has come. A lone
 * session is answered within that time and saves two wake-ups; where many
 * sessions share few cores the time is only taken from them. So after misses in
 * a row the backend sleeps at once, and tries again now and then.
 */
static bool
spin_until_done(int slot, uint64_t word)
{
	static int	misses = 0;
	static int	pause = 0;
	int64		end_nanos;

	if (millrace_slot_done(slot, word))
		return true;
	if (millrace_spin_us == 0)
		return false;
	if (pause > 0)
	{
		pause--;
		return false;
	}
	end_nanos = millrace_now_nanos() + millrace_spin_us * INT64CONST(1000);
	do
	{
		for (int i = 0; i < MILLRACE_SPIN_BURST; i++)
		{
			if (millrace_slot_done(slot, word))
			{
				misses = 0;
				return true;
			}
			SPIN_DELAY();
		}
	} while (millrace_now_nanos() < end_nanos);
	if (++misses >= MILLRACE_SPIN_MISSES)
	{
		misses = MILLRACE_SPIN_MISSES - 1;	/* one more miss is enough to pause again */
		pause = MILLRACE_SPIN_PAUSE;
	}
	return false;
}

/*
 * Lets others run, the gateway among them; true when the answer has come. On a
 * busy machine that saves a sleep here and a ring there; on an idle one it
 * returns at once.
 */
static bool
yield_until_done(int slot, uint64_t word)
{
	for (int i = 0; i < MILLRACE_YIELD_LIMIT; i++)
	{
		sched_yield();
		if (millrace_slot_done(slot, word))
			return true;
	}
	return false;
}

/* Waits for the answer of a slot without sleeping; true when it has come */
bool
millrace_answer_spin(int slot, uint64_t word)
{
	return spin_until_done(slot, word) || yield_until_done(slot, word);
}
