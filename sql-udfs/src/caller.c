#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/builtins.h"

/*
 * Proof of the role that called a public function. SQL cannot make a value of
 * this type but through ml.caller(), and a value is refused outside the
 * backend and the transaction that made it. So a function that runs as the
 * owner of the extension learns whom it works for, which PostgreSQL itself
 * does not tell it.
 */
typedef struct MillraceCaller
{
	Oid			role;
	int32		pid;
	LocalTransactionId transaction;
} MillraceCaller;

StaticAssertDecl(sizeof(MillraceCaller) == 12, "INTERNALLENGTH of type ml.caller");

/* Refuses to read a caller from text */
PG_FUNCTION_INFO_V1(millrace_caller_in);
Datum
millrace_caller_in(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a value of type ml.caller can only be made by ml.caller()")));
	PG_RETURN_NULL();
}

/* Shows the role of a caller */
PG_FUNCTION_INFO_V1(millrace_caller_out);
Datum
millrace_caller_out(PG_FUNCTION_ARGS)
{
	MillraceCaller *caller = (MillraceCaller *) PG_GETARG_POINTER(0);

	PG_RETURN_CSTRING(psprintf("%u", caller->role));
}

/* The present role, proven */
PG_FUNCTION_INFO_V1(millrace_caller);
Datum
millrace_caller(PG_FUNCTION_ARGS)
{
	MillraceCaller *caller = palloc(sizeof(MillraceCaller));

	caller->role = GetUserId();
	caller->pid = MyProcPid;
	caller->transaction = MyProc->lxid;
	PG_RETURN_POINTER(caller);
}

/* The role behind a caller of this transaction */
PG_FUNCTION_INFO_V1(millrace_caller_role);
Datum
millrace_caller_role(PG_FUNCTION_ARGS)
{
	MillraceCaller *caller = (MillraceCaller *) PG_GETARG_POINTER(0);

	if (caller->pid != MyProcPid || caller->transaction != MyProc->lxid)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("a value of type ml.caller is only valid in the transaction that made it")));
	PG_RETURN_OID(caller->role);
}

/* Whether a row version with this xmin was made by the present transaction, also in a savepoint that was released since */
PG_FUNCTION_INFO_V1(millrace_is_own_transaction);
Datum
millrace_is_own_transaction(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(TransactionIdIsCurrentTransactionId(PG_GETARG_TRANSACTIONID(0)));
}
