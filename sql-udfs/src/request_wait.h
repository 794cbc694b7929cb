#ifndef MILLRACE_REQUEST_WAIT_H
#define MILLRACE_REQUEST_WAIT_H

#include "postgres.h"

/* What is asked. The bytes stay where they are until the answer is there: a request may have to be sent again. */
typedef struct MillraceMessage
{
	uint32		kind;			/* MILLRACE_KIND_x */
	uint64		model_key;		/* 0 for kinds without a model */
	uint64		tenant_key;		/* the project that asks; 0 for kinds without rows */
	uint64		limits;			/* names its limits; 0 = it has none */
	bool		bulk;			/* part of a large job */
	uint32		row_count;
	uint64		descriptor_hash;
	const char *descriptor;		/* NULL for kinds without rows */
	uint32		descriptor_length;
	const char *reference;		/* NULL for kinds without a model */
	uint32		reference_length;
	const char *rows;
	uint32		rows_length;
	bool		send_reference; /* with the first attempt already */
} MillraceMessage;

/* A response in its slab, valid until the request is freed. The gateway owns the bytes: read each length once. */
typedef struct MillraceAnswer
{
	const char *bytes;
	uint32		length;
} MillraceAnswer;

typedef struct MillraceRequest MillraceRequest;

/* Bytes that fit one request and one response beside their headers */
typedef struct MillraceRoom
{
	uint32		request;
	uint32		response;
} MillraceRoom;

extern void millrace_request_init(void);
extern MillraceRoom millrace_request_room(void);
extern void millrace_request_observe(void);
extern MillraceRequest *millrace_request_start(const MillraceMessage *message);
extern MillraceRequest *millrace_request_try_start(const MillraceMessage *message);
extern uint32 millrace_request_await(MillraceRequest *request, MillraceAnswer *answer);
extern MillraceAnswer millrace_request_finish(MillraceRequest *request);
extern void millrace_request_free(MillraceRequest *request);

#endif							/* MILLRACE_REQUEST_WAIT_H */
