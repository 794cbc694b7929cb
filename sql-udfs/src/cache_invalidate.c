#include "postgres.h"

#include "commands/trigger.h"
#include "fmgr.h"
#include "utils/inval.h"
#include "utils/rel.h"

/*
 * Trigger: tells every session, at commit, that a table of ours changed. The
 * message is PostgreSQL's own relation cache invalidation, so a rollback sends
 * nothing and a standby receives it with the commit record.
 */
PG_FUNCTION_INFO_V1(millrace_invalidate_cache);
Datum
millrace_invalidate_cache(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" must be called as a trigger", "ml._invalidate_cache")));

	CacheInvalidateRelcacheByRelid(RelationGetRelid(trigger->tg_relation));
	return PointerGetDatum(NULL);
}
