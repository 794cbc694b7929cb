#include "postgres.h"

#include "fmgr.h"

PG_MODULE_MAGIC;

/* Interim until the bridge lands in the next change */
PG_FUNCTION_INFO_V1(millrace_load_model);
Datum
millrace_load_model(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_CANNOT_CONNECT_NOW),
			 errmsg("the gateway is not available")));
	PG_RETURN_VOID();
}
