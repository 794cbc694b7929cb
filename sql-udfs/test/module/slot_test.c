/*
 * Moves the slots of a region that the test makes up, with rivals that a real region has by chance only.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "region_attach.h"
#include "slot_move.h"

/* The region of this backend is put aside while the made-up one is in its place */
static MillraceRegion aside;
static MillraceSlotLine *line;
static MillraceControlLine control;
static _Atomic uint64_t ready[MILLRACE_READY_WORD_COUNT];

static void
region_make_up(void)
{
	aside = millrace_region;
	memset(&millrace_region, 0, sizeof(millrace_region));
	memset(&control, 0, sizeof(control));
	millrace_region.lines = palloc0(MILLRACE_SLOT_COUNT * MILLRACE_SLOT_LENGTH);
	millrace_region.control = &control;
	millrace_region.ready = ready;
	for (int i = 0; i < MILLRACE_SLOT_COUNT; i++)
		millrace_region.entries[i].slot_offset = i * MILLRACE_SLOT_LENGTH;
}

/* slot_stolen(): what is left to a claim whose slot was reclaimed and taken by another process before it was submitted */
PG_FUNCTION_INFO_V1(slot_stolen);
Datum
slot_stolen(PG_FUNCTION_ARGS)
{
	uint64_t	word;
	uint64_t	stranger;
	int			slot;
	bool		kept;

	region_make_up();
	slot = millrace_slot_claim(&word);
	line = millrace_region_slot(slot);
	stranger = MILLRACE_STATE_WORD(MILLRACE_STATE_GENERATION(word) + 1, MyProcPid + 1, MILLRACE_STATE_CLAIMED);
	atomic_store(&line->state, stranger);
	millrace_slot_submit(slot, &word);
	kept = millrace_slot_owned(slot, word);
	millrace_slot_release(slot, word);
	kept |= atomic_load(&line->state) != stranger;
	millrace_region = aside;
	PG_RETURN_BOOL(kept);
}

/* slot_exhausted(): how many slots can be claimed, and whether the one given back is the one claimed next */
PG_FUNCTION_INFO_V1(slot_exhausted);
Datum
slot_exhausted(PG_FUNCTION_ARGS)
{
	uint64_t	words[MILLRACE_SLOT_COUNT];
	uint64_t	word;
	int			count = 0;
	int			slot;

	region_make_up();
	while ((slot = millrace_slot_claim(&word)) != MILLRACE_SLOT_NONE && count < MILLRACE_SLOT_COUNT)
	{
		words[slot] = word;
		count++;
	}
	millrace_slot_release(MILLRACE_SLOT_COUNT / 2, words[MILLRACE_SLOT_COUNT / 2]);
	if (millrace_slot_claim(&word) != MILLRACE_SLOT_COUNT / 2)
		count = -1;
	millrace_region = aside;
	PG_RETURN_INT32(count);
}
