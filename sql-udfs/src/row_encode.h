#ifndef MILLRACE_ROW_ENCODE_H
#define MILLRACE_ROW_ENCODE_H

#include "postgres.h"

#include "access/htup.h"
#include "access/tupdesc.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/jsonb.h"

/* How a column's value becomes bytes */
typedef enum MillraceConversion
{
	MILLRACE_FROM_BOOL,
	MILLRACE_FROM_INT2,
	MILLRACE_FROM_INT4,
	MILLRACE_FROM_INT8,
	MILLRACE_FROM_FLOAT4,
	MILLRACE_FROM_FLOAT8,
	MILLRACE_FROM_NUMERIC,
	MILLRACE_FROM_TEXT,			/* a varlena of characters */
	MILLRACE_FROM_OUTPUT,		/* through the type's output function: enum, uuid */
	MILLRACE_FROM_DATE,
	MILLRACE_FROM_TIMESTAMP
} MillraceConversion;

typedef struct MillraceColumn
{
	int			attribute;		/* number, from 1 */
	MillraceConversion conversion;
	FmgrInfo	output;			/* for MILLRACE_FROM_OUTPUT */
} MillraceColumn;

/* The columns of a source and their descriptor on the wire */
typedef struct MillraceDescriptor
{
	uint64		hash;
	uint32		length;
	char	   *bytes;
	int			column_count;
	MillraceColumn *columns;	/* NULL for arrays and jsonb */
} MillraceDescriptor;

extern MillraceDescriptor *millrace_descriptor_of_array(int element_count);
extern MillraceDescriptor *millrace_descriptor_of_tuple(TupleDesc tuple_descriptor, int skipped_attribute);
extern MillraceDescriptor *millrace_descriptor_of_object(Jsonb *object);
extern const float8 *millrace_encode_array(StringInfo rows, ArrayType *array, int first, int count, const float8 *values);
extern void millrace_encode_values(StringInfo rows, MillraceDescriptor *descriptor, const Datum *values, const bool *nulls);
extern void millrace_encode_tuple(StringInfo rows, MillraceDescriptor *descriptor, HeapTuple tuple, TupleDesc tuple_descriptor);
extern void millrace_encode_object(StringInfo rows, const MillraceDescriptor *descriptor, Jsonb *object);

#endif							/* MILLRACE_ROW_ENCODE_H */
