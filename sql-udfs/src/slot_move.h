#ifndef MILLRACE_SLOT_MOVE_H
#define MILLRACE_SLOT_MOVE_H

#include "slot_layout.h"

/*
 * Moves of a slot, each one compare-and-set on its whole state word:
 *
 *	FREE -> CLAIMED -> SUBMITTED -> (gateway: RUNNING -> DONE) -> FREE
 *
 * and when the backend gives up: CLAIMED, SUBMITTED, DONE -> FREE,
 * RUNNING -> ABANDONED, which the gateway frees when it has finished.
 */

#define MILLRACE_SLOT_NONE (-1)

extern int	millrace_slot_claim(uint64_t *word);
extern bool millrace_slot_submit(int slot, uint64_t *word);
extern bool millrace_slot_done(int slot, uint64_t word);
extern void millrace_slot_avoid(int slot);
extern bool millrace_slot_owned(int slot, uint64_t word);
extern void millrace_slot_release(int slot, uint64_t word);

#endif							/* MILLRACE_SLOT_MOVE_H */
