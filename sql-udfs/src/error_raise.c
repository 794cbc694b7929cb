#include "postgres.h"

#include "error_raise.h"
#include "millrace_layout.h"

/* The SQLSTATE of an error code that crossed the slot; one of another version is an internal error */
int
millrace_error_sqlstate(uint32 code)
{
	switch (code)
	{
#define ERROR_CASE(name, number, c1, c2, c3, c4, c5) \
		case number: \
			return MAKE_SQLSTATE(c1, c2, c3, c4, c5);
			MILLRACE_ERROR_TABLE(ERROR_CASE)
#undef ERROR_CASE
	}
	return ERRCODE_INTERNAL_ERROR;
}

/* Raises what the gateway reported; an empty hint is left out */
void
millrace_error_raise(uint32 code, const char *message, const char *hint)
{
	ereport(ERROR,
			(errcode(millrace_error_sqlstate(code)),
			 errmsg_internal("%s", message[0] != '\0' ? message : "the gateway reported an error without a message"),
			 hint[0] != '\0' ? errhint("%s", hint) : 0));
	pg_unreachable();
}

/* Raises for a response that contradicts itself */
void
millrace_error_malformed(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROTOCOL_VIOLATION),
			 errmsg("the gateway sent a malformed response"),
			 errdetail_internal("%s", detail)));
	pg_unreachable();
}
