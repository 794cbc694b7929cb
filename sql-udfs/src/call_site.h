#ifndef MILLRACE_CALL_SITE_H
#define MILLRACE_CALL_SITE_H

#include "project_cache.h"
#include "request_wait.h"
#include "row_encode.h"

/*
 * What one call in one query keeps from row to row: the model, the descriptor,
 * the buffer. It lives as long as the function's fn_extra.
 */
typedef struct MillraceCallSite
{
	MemoryContext context;

	/* The model looked up last, valid while the cache's generation stays */
	MillraceModel *model;		/* NULL when there is none to reuse */
	uint64		generation;
	Oid			role;
	int64		model_id;
	int			name_length;
	char		name[256];

	/* The descriptor of the rows, and what it was made for */
	MillraceDescriptor *descriptor;
	Oid			row_type;
	int32		row_typmod;
	TupleDesc	row_descriptor;

	StringInfoData rows;
} MillraceCallSite;

/* Encodes one row of features into the call site's buffer */
typedef void (*MillraceEncoder) (MillraceCallSite *site, Datum features);

extern MillraceCallSite *millrace_call_site(FunctionCallInfo fcinfo);
extern MillraceModel *millrace_call_site_model(MillraceCallSite *site, const MillraceModelName *name);
extern MillraceMessage millrace_call_site_message(const MillraceCallSite *site, const MillraceModel *model, uint32 kind, uint32 row_count);
extern void millrace_call_site_array(MillraceCallSite *site, Datum features);
extern void millrace_call_site_record(MillraceCallSite *site, Datum features);
extern void millrace_call_site_jsonb(MillraceCallSite *site, Datum features);
extern void millrace_call_site_array_descriptor(MillraceCallSite *site, int element_count);
extern ArrayType *millrace_float8_array(ArrayType *array);

#endif							/* MILLRACE_CALL_SITE_H */
