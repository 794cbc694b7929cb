#ifndef MILLRACE_ANSWER_DECODE_H
#define MILLRACE_ANSWER_DECODE_H

#include "request_wait.h"
#include "utils/array.h"

/* Walks over the rows of an answer. Nothing is read beyond the end, whatever the lengths in the bytes say. */
typedef struct MillraceReader
{
	const char *next;
	const char *end;
	uint16		value_kind;
	uint32		rows_left;
	uint64		model_key;
} MillraceReader;

/* A row that was not answered */
typedef struct MillraceRowError
{
	uint32		code;
	char	   *message;		/* in the database's encoding */
} MillraceRowError;

extern void millrace_answer_raise(uint32 status, MillraceAnswer answer) pg_attribute_noreturn();
extern MillraceReader millrace_answer_open(MillraceAnswer answer, uint16 value_kind, uint32 row_count, uint64 model_key);
extern bool millrace_answer_row(MillraceReader *reader, MillraceRowError *error);
extern void millrace_answer_close(const MillraceReader *reader);
extern float8 millrace_answer_float8(MillraceReader *reader);
extern text *millrace_answer_text(MillraceReader *reader);
extern ArrayType *millrace_answer_float8_array(MillraceReader *reader);
extern ArrayType *millrace_answer_float4_array(MillraceReader *reader);
extern bytea *millrace_answer_bytes(MillraceReader *reader);

#endif							/* MILLRACE_ANSWER_DECODE_H */
