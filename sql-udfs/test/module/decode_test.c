/*
 * Decodes damaged answers. The bytes end where an unreadable page begins, so
 * that reading one byte too many ends the server instead of passing unseen.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "answer_decode.h"
#include "millrace_layout.h"

PG_MODULE_MAGIC;

/* Reads an answer to its end; status 0 has rows of a kind, any other a message and a hint */
static void
decode(MillraceAnswer answer, uint32 status, uint16 value_kind, uint32 row_count)
{
	MillraceReader reader;

	if (status != MILLRACE_ERROR_OK)
		millrace_answer_raise(status, answer);
	reader = millrace_answer_open(answer, value_kind, row_count, 0);
	for (uint32 i = 0; i < row_count; i++)
	{
		MillraceRowError error;

		if (!millrace_answer_row(&reader, &error))
			continue;
		if (value_kind == MILLRACE_VALUE_SCALAR || value_kind == MILLRACE_VALUE_FULL)
			millrace_answer_float8(&reader);
		if (value_kind == MILLRACE_VALUE_TEXT || value_kind == MILLRACE_VALUE_FULL)
			millrace_answer_text(&reader);
		if (value_kind == MILLRACE_VALUE_VECTOR || value_kind == MILLRACE_VALUE_FULL)
			millrace_answer_float8_array(&reader);
		if (value_kind == MILLRACE_VALUE_VECTOR32)
			millrace_answer_float4_array(&reader);
		if (value_kind == MILLRACE_VALUE_BYTES)
			millrace_answer_bytes(&reader);
	}
	millrace_answer_close(&reader);
}

/* Whether bytes decode; an error is the other answer */
static bool
decodes(MillraceAnswer answer, uint32 status, uint16 value_kind, uint32 row_count)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool good = true;

	PG_TRY();
	{
		decode(answer, status, value_kind, row_count);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
		good = false;
	}
	PG_END_TRY();
	return good;
}

/* decode_damaged(bytes, status, kind, rows): how many prefixes, and how many copies with one bit flipped, decode */
PG_FUNCTION_INFO_V1(decode_damaged);
Datum
decode_damaged(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	size_t		length = VARSIZE_ANY_EXHDR(bytes);
	size_t		page = sysconf(_SC_PAGESIZE);
	char	   *pages = mmap(NULL, page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int			prefixes = 0;
	int			flips = 0;

	if (pages == MAP_FAILED || length > page || mprotect(pages + page, page, PROT_NONE) != 0)
		elog(ERROR, "no room for %zu bytes", length);
	for (size_t cut = 0; cut <= length; cut++)
	{
		MillraceAnswer answer = {pages + page - cut, cut};

		memcpy(pages + page - cut, VARDATA_ANY(bytes), cut);
		prefixes += decodes(answer, PG_GETARG_INT32(1), PG_GETARG_INT32(2), PG_GETARG_INT32(3));
	}
	for (size_t bit = 0; bit < length * 8; bit++)
	{
		MillraceAnswer answer = {pages + page - length, length};

		pages[page - length + bit / 8] ^= 1 << (bit % 8);
		flips += decodes(answer, PG_GETARG_INT32(1), PG_GETARG_INT32(2), PG_GETARG_INT32(3));
		pages[page - length + bit / 8] ^= 1 << (bit % 8);
	}
	munmap(pages, page * 2);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%d prefixes, %d of %zu flips", prefixes, flips, length * 8)));
}
