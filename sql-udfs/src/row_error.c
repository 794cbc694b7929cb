#include "postgres.h"

#include "access/xact.h"
#include "error_raise.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "row_error.h"
#include "tcop/utility.h"

#define MILLRACE_MARK_LIMIT 64	/* nested savepoints told apart; deeper ones count as one */

/* Rows of the outermost statement that answered NULL, and why the first of them did */
static uint64 null_count = 0;
static char first_message[256];

/* null_count when the subtransaction of a nesting level began */
static uint64 null_marks[MILLRACE_MARK_LIMIT];

/* Statements that run in one another: a function's within its caller's, all of them within CALL, DO or EXECUTE */
static int	depth = 0;

static ExecutorRun_hook_type prior_executor_run = NULL;
static ExecutorFinish_hook_type prior_executor_finish = NULL;
static ExecutorEnd_hook_type prior_executor_end = NULL;
static ProcessUtility_hook_type prior_utility = NULL;

/* At the end of an outermost statement: one warning for all its rows that could not be scored */
static void
warn(void)
{
	uint64		count = null_count;

	if (depth > 0 || count == 0)
		return;
	null_count = 0;
	ereport(WARNING,
			(errcode(ERRCODE_WARNING_NULL_VALUE_ELIMINATED_IN_SET_FUNCTION),
			 errmsg_plural(UINT64_FORMAT " row could not be scored and answered NULL",
						   UINT64_FORMAT " rows could not be scored and answered NULL",
						   (unsigned long) count, count),
			 errdetail_internal("%s", first_message)));
}

static void
executor_run(QueryDesc *query, ScanDirection direction, uint64 count, bool execute_once)
{
	depth++;
	PG_TRY();
	{
		if (prior_executor_run != NULL)
			prior_executor_run(query, direction, count, execute_once);
		else
			standard_ExecutorRun(query, direction, count, execute_once);
	}
	PG_FINALLY();
	{
		depth--;
	}
	PG_END_TRY();
}

/* Triggers run here */
static void
executor_finish(QueryDesc *query)
{
	depth++;
	PG_TRY();
	{
		if (prior_executor_finish != NULL)
			prior_executor_finish(query);
		else
			standard_ExecutorFinish(query);
	}
	PG_FINALLY();
	{
		depth--;
	}
	PG_END_TRY();
}

static void
executor_end(QueryDesc *query)
{
	warn();
	if (prior_executor_end != NULL)
		prior_executor_end(query);
	else
		standard_ExecutorEnd(query);
}

static void
process_utility(PlannedStmt *statement, const char *query, bool read_only_tree, ProcessUtilityContext context,
				ParamListInfo parameters, QueryEnvironment *environment, DestReceiver *destination, QueryCompletion *completion)
{
	ProcessUtility_hook_type process = prior_utility != NULL ? prior_utility : standard_ProcessUtility;

	depth++;
	PG_TRY();
	{
		process(statement, query, read_only_tree, context, parameters, environment, destination, completion);
	}
	PG_FINALLY();
	{
		depth--;
	}
	PG_END_TRY();
	warn();
}

/* A statement that failed has no say in the next one's warning */
static void
on_transaction_end(XactEvent event, void *argument)
{
	if (event == XACT_EVENT_ABORT)
		null_count = 0;
}

/* What failed in a block whose error was caught has none either; what was counted before it has */
static void
on_subtransaction(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *argument)
{
	int			level = Min(GetCurrentTransactionNestLevel(), MILLRACE_MARK_LIMIT) - 1;

	if (event == SUBXACT_EVENT_START_SUB && GetCurrentTransactionNestLevel() <= MILLRACE_MARK_LIMIT)
		null_marks[level] = null_count;
	else if (event == SUBXACT_EVENT_ABORT_SUB)
		null_count = Min(null_count, null_marks[level]);
}

/* Hooks the begin and the end of statements; once per backend */
void
millrace_row_error_init(void)
{
	prior_executor_run = ExecutorRun_hook;
	ExecutorRun_hook = executor_run;
	prior_executor_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = executor_finish;
	prior_executor_end = ExecutorEnd_hook;
	ExecutorEnd_hook = executor_end;
	prior_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
	RegisterXactCallback(on_transaction_end, NULL);
	RegisterSubXactCallback(on_subtransaction, NULL);
}

/* Counts a row that answers NULL */
void
millrace_row_error_note(const MillraceRowError *error)
{
	if (null_count++ == 0)
	{
		int			length = strlen(error->message);

		/* Cut between two characters: half of one could not be sent to the client. */
		strlcpy(first_message, error->message, pg_mbcliplen(error->message, length, sizeof(first_message) - 1) + 1);
	}
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
