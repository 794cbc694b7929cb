#include "postgres.h"

#include "miscadmin.h"
#include "region_attach.h"
#include "slot_move.h"
#include "word_sleep.h"

/* Slots where backends begin to look. Not all of them: a slot that was ever used keeps its memory. */
#define MILLRACE_SLOT_SPREAD 64

/* The slot given back last: its memory is warm, and a backend stays with the few slots it needs */
static int	last_slot = MILLRACE_SLOT_NONE;

/* The slot that is not to be used next, though it is given back last */
static int	avoided_slot = MILLRACE_SLOT_NONE;

/* The word of the same claim in another state */
static inline uint64_t
word_in_state(uint64_t word, uint32_t state)
{
	return (word & ~UINT64CONST(0xff)) | state;
}

/* Takes a free slot, looking first at the one used last. MILLRACE_SLOT_NONE when all are taken. */
int
millrace_slot_claim(uint64_t *word)
{
	if (last_slot == MILLRACE_SLOT_NONE)
		last_slot = (int) ((uint32) MyProcPid * 7 % MILLRACE_SLOT_SPREAD);	/* spreads the backends */
	for (int i = 0; i < MILLRACE_SLOT_COUNT; i++)
	{
		int			slot = (last_slot + i) % MILLRACE_SLOT_COUNT;
		MillraceSlotLine *line = millrace_region_slot(slot);
		uint64_t	seen = atomic_load_explicit(&line->state, memory_order_relaxed);
		uint64_t	claimed;

		if (MILLRACE_STATE_CODE(seen) != MILLRACE_STATE_FREE)
			continue;
		claimed = MILLRACE_STATE_WORD(MILLRACE_STATE_GENERATION(seen) + 1, MyProcPid, MILLRACE_STATE_CLAIMED);
		if (atomic_compare_exchange_strong_explicit(&line->state, &seen, claimed, memory_order_acquire, memory_order_relaxed))
		{
			*word = claimed;
			return slot;
		}
	}
	return MILLRACE_SLOT_NONE;
}

/* Wakes the dispatcher if it sleeps at the control line. Whether it sleeps at the doorbell instead, and is to be rung. */
static bool
wake_dispatcher(void)
{
	MillraceControlLine *control = millrace_region.control;
	uint32_t	sleeping = atomic_load_explicit(&control->sleeping, memory_order_seq_cst);

	if (sleeping == MILLRACE_SLEEPER_AWAKE ||
		!atomic_compare_exchange_strong(&control->sleeping, &sleeping, MILLRACE_SLEEPER_AWAKE))
		return false;
	if (sleeping != MILLRACE_SLEEPER_AT_WORD)
		return true;
	millrace_word_wake(&control->sleeping);
	return false;
}

/*
 * Hands a claimed slot to the gateway. The ready bit is set before the
 * gateway's sleep flag is read, and the gateway sets its flag before it looks
 * at the bits, so one of the two sees the other. Returns whether to ring.
 */
bool
millrace_slot_submit(int slot, uint64_t *word)
{
	MillraceSlotLine *line = millrace_region_slot(slot);
	uint64_t	claimed = *word;	/* overwritten with what is there instead: never to be taken for ours */
	uint64_t	submitted = word_in_state(*word, MILLRACE_STATE_SUBMITTED);

	if (!atomic_compare_exchange_strong_explicit(&line->state, &claimed, submitted, memory_order_release, memory_order_relaxed))
		return false;			/* reclaimed as a dead owner's; the wait finds out */
	*word = submitted;
	atomic_fetch_or_explicit(&millrace_region.ready[slot / 64], UINT64CONST(1) << (slot % 64), memory_order_seq_cst);
	return wake_dispatcher();
}

/* Whether the answer is there */
bool
millrace_slot_done(int slot, uint64_t word)
{
	return atomic_load_explicit(&millrace_region_slot(slot)->state, memory_order_acquire) == word_in_state(word, MILLRACE_STATE_DONE);
}

/* Whether the slot still belongs to the claim that made the word */
bool
millrace_slot_owned(int slot, uint64_t word)
{
	uint64_t	seen = atomic_load_explicit(&millrace_region_slot(slot)->state, memory_order_acquire);

	return word_in_state(seen, 0) == word_in_state(word, 0) && MILLRACE_STATE_CODE(seen) != MILLRACE_STATE_FREE;
}

/* Begins with another slot after this one: there is no memory for it, and others may have had theirs for long */
void
millrace_slot_avoid(int slot)
{
	avoided_slot = slot;
}

/* Gives a slot back, whatever has become of the request; a running one is left for the gateway to free */
void
millrace_slot_release(int slot, uint64_t word)
{
	MillraceSlotLine *line = millrace_region_slot(slot);
	uint64_t	seen = atomic_load_explicit(&line->state, memory_order_acquire);

	last_slot = slot == avoided_slot ? (slot + 1) % MILLRACE_SLOT_COUNT : slot;
	avoided_slot = MILLRACE_SLOT_NONE;
	for (;;)
	{
		uint32_t	state = MILLRACE_STATE_CODE(seen);
		uint64_t	released = word_in_state(seen, state == MILLRACE_STATE_RUNNING ? MILLRACE_STATE_ABANDONED : MILLRACE_STATE_FREE);

		if (word_in_state(seen, 0) != word_in_state(word, 0) ||
			state == MILLRACE_STATE_FREE || state == MILLRACE_STATE_ABANDONED)
			return;
		if (atomic_compare_exchange_weak_explicit(&line->state, &seen, released, memory_order_release, memory_order_acquire))
			return;
	}
}
