#ifndef MILLRACE_SLOT_LAYOUT_H
#define MILLRACE_SLOT_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#include "millrace_layout.h"

/*
 * What the backend and the gateway share, as C sees it. The offsets are those
 * of millrace_layout.h: slot_layout.c fails to compile when they differ.
 */

/* One request in flight */
typedef struct MillraceSlotLine
{
	_Atomic uint64_t state;		/* generation:32, owner pid:24, state:8 */
	_Atomic uint32_t waiter;	/* where the backend sleeps: MILLRACE_SLEEPER_.. */
	uint32_t	kind;
	uint64_t	model_key;
	uint64_t	request_id;
	int64_t		deadline_nanos; /* CLOCK_MONOTONIC, as all times here */
	uint32_t	request_length;
	uint32_t	connection_id;
	uint8_t		trace_id[16];
	uint8_t		span_id[8];		/* zero when the trace id is made up here */
	int64_t		submitted_nanos;
	int64_t		taken_nanos;
	int64_t		done_nanos;
	uint32_t	response_length;
	uint32_t	status;
	uint64_t	owner_start;	/* start time of the backend, against reuse of its pid */
	uint32_t	trace_flags;	/* of the caller's span */
	uint8_t		unused[12];
} MillraceSlotLine;

/* What the gateway says about itself */
typedef struct MillraceControlLine
{
	uint64_t	magic;
	_Atomic uint32_t version;
	_Atomic uint32_t state;
	uint64_t	generation;
	_Atomic int64_t heartbeat_nanos;
	uint64_t	gateway_pid;
	uint8_t		unused1[24];
	_Atomic uint32_t sleeping;	/* where the dispatcher sleeps: who makes it MILLRACE_SLEEPER_AWAKE wakes it */
	uint8_t		unused2[60];
} MillraceControlLine;

#endif							/* MILLRACE_SLOT_LAYOUT_H */
