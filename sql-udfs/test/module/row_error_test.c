/*
 * Rows that cannot be scored, with messages that only a gateway would send.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "error_raise.h"
#include "millrace_layout.h"
#include "row_error.h"

/* row_error_note(message): counts a row that answers NULL */
PG_FUNCTION_INFO_V1(row_error_note);
Datum
row_error_note(PG_FUNCTION_ARGS)
{
	MillraceRowError error = {.code = MILLRACE_ERROR_INVALID_VALUE, .message = text_to_cstring(PG_GETARG_TEXT_PP(0))};

	millrace_row_error_note(&error);
	PG_RETURN_NULL();
}

/* gateway_error(code): raises as for an answer with that code */
PG_FUNCTION_INFO_V1(gateway_error);
Datum
gateway_error(PG_FUNCTION_ARGS)
{
	millrace_error_raise(PG_GETARG_INT32(0), "from the gateway", "");
}
