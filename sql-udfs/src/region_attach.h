#ifndef MILLRACE_REGION_ATTACH_H
#define MILLRACE_REGION_ATTACH_H

#include <time.h>

#include "slot_layout.h"

/* Where a slot's parts lie in the three files */
typedef struct MillraceRegionEntry
{
	uint64_t	slot_offset;
	uint64_t	request_offset;
	uint64_t	response_offset;
} MillraceRegionEntry;

/* The mapped region of one gateway generation */
typedef struct MillraceRegion
{
	char		directory[MAXPGPATH];
	char		socket_name[MILLRACE_REGION_NAME_LENGTH];
	uint64_t	generation;
	int64_t		heartbeat_limit_nanos;
	uint32_t	request_slab_length;
	uint32_t	response_slab_length;
	size_t		lines_length;
	size_t		requests_length;
	size_t		responses_length;
	char	   *lines;			/* NULL when nothing is mapped */
	char	   *requests;
	const char *responses;		/* mapped read-only */
	MillraceControlLine *control;
	_Atomic uint64_t *ready;
	MillraceRegionEntry entries[MILLRACE_SLOT_COUNT];
	bool		request_held[MILLRACE_SLOT_COUNT];	/* its memory has been taken by this process */
} MillraceRegion;

typedef enum MillraceGatewayState
{
	MILLRACE_GATEWAY_ALIVE,
	MILLRACE_GATEWAY_STOPPING,	/* draining or closed */
	MILLRACE_GATEWAY_SILENT		/* the heartbeat is too old */
} MillraceGatewayState;

extern MillraceRegion millrace_region;

/* What to do when the operating system denies access to the region; for errhint */
#define MILLRACE_REGION_ACCESS_HINT \
	"Run PostgreSQL and the gateway as one operating system user, or make the user of PostgreSQL a member of the group named by region-group in gateway.properties."

/* What to do when its file system is full */
#define MILLRACE_REGION_FULL_HINT "Enlarge the tmpfs of ml.region_dir."

extern void millrace_region_attach(void);
extern void millrace_region_detach(void);
extern bool millrace_region_replaced(void);
extern void millrace_region_hold_request(int slot);
extern MillraceGatewayState millrace_region_gateway_state(void);
extern int64 millrace_region_heartbeat_age_nanos(void);

/* Nanoseconds of CLOCK_MONOTONIC, the clock of every time in the region */
static inline int64
millrace_now_nanos(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64) now.tv_sec * INT64CONST(1000000000) + now.tv_nsec;
}

static inline MillraceSlotLine *
millrace_region_slot(int slot)
{
	return (MillraceSlotLine *) (millrace_region.lines + millrace_region.entries[slot].slot_offset);
}

static inline char *
millrace_region_request(int slot)
{
	return millrace_region.requests + millrace_region.entries[slot].request_offset;
}

static inline const char *
millrace_region_response(int slot)
{
	return millrace_region.responses + millrace_region.entries[slot].response_offset;
}

#endif							/* MILLRACE_REGION_ATTACH_H */
