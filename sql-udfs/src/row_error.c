#include "postgres.h"

#include "access/xact.h"
#include "error_raise.h"
#include "executor/executor.h"
#include "row_error.h"

/* Rows of the statement that answered NULL, and why the first of them did */
static uint64 null_count = 0;
static char first_message[256];

static ExecutorEnd_hook_type prior_executor_end = NULL;

/* At the end of a statement: one warning for all its rows that could not be scored */
static void
executor_end(QueryDesc *query)
{
	uint64		count = null_count;

	null_count = 0;
	if (count > 0)
		ereport(WARNING,
				(errcode(ERRCODE_WARNING_NULL_VALUE_ELIMINATED_IN_SET_FUNCTION),
				 errmsg_plural(UINT64_FORMAT " row could not be scored and answered NULL",
							   UINT64_FORMAT " rows could not be scored and answered NULL",
							   (unsigned long) count, count),
				 errdetail_internal("%s", first_message)));
	if (prior_executor_end != NULL)
		prior_executor_end(query);
	else
		standard_ExecutorEnd(query);
}

/* A statement that failed has no say in the next one's warning */
static void
on_transaction_end(XactEvent event, void *argument)
{
	if (event == XACT_EVENT_ABORT)
		null_count = 0;
}

/* Hooks the end of statements; once per backend */
void
millrace_row_error_init(void)
{
	prior_executor_end = ExecutorEnd_hook;
	ExecutorEnd_hook = executor_end;
	RegisterXactCallback(on_transaction_end, NULL);
}

/* Counts a row that answers NULL */
void
millrace_row_error_note(const MillraceRowError *error)
{
	if (null_count++ == 0)
		strlcpy(first_message, error->message, sizeof(first_message));
}

/* Raises for a row that could not be scored, or counts it, as the project or the session wants */
void
millrace_row_error_handle(const MillraceModel *model, const MillraceRowError *error)
{
	MillraceOnError on_error = model->on_error_set ? model->on_error : (MillraceOnError) millrace_on_error;

	if (on_error == MILLRACE_ON_ERROR_ABORT)
		millrace_error_raise(error->code, error->message, "");
	millrace_row_error_note(error);
}
