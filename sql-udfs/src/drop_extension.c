#include "postgres.h"

#include "access/xact.h"
#include "commands/event_trigger.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "replication/slot.h"
#include "storage/lwlock.h"

#define MILLRACE_SLOT_PREFIX "millrace" /* of the replication slots of the change stream */

/* The transaction is about to drop the extension: its replication slots go with it */
static bool drop_slots = false;

/* Finds a replication slot of the change stream in this database; false when there is none */
static bool
find_slot(NameData *name, int *active_pid)
{
	bool		found = false;

	LWLockAcquire(ReplicationSlotControlLock, LW_SHARED);
	for (int i = 0; i < max_replication_slots && !found; i++)
	{
		ReplicationSlot *slot = &ReplicationSlotCtl->replication_slots[i];

		if (!slot->in_use || slot->data.database != MyDatabaseId ||
			strncmp(NameStr(slot->data.name), MILLRACE_SLOT_PREFIX, strlen(MILLRACE_SLOT_PREFIX)) != 0)
			continue;
		*name = slot->data.name;
		*active_pid = slot->active_pid;
		found = true;
	}
	LWLockRelease(ReplicationSlotControlLock);
	return found;
}

/* Refuses to pull a slot from under a stream that reads it */
static void
check_slot_idle(void)
{
	NameData	name;
	int			active_pid;

	if (find_slot(&name, &active_pid) && active_pid != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("replication slot \"%s\" is in use", NameStr(name)),
				 errdetail("Process %d sends the changes of this database.", active_pid),
				 errhint("Stop the change stream of Millrace first.")));
}

/* Dropping a slot cannot be undone: it waits until nothing else can fail */
static void
on_transaction_event(XactEvent event, void *argument)
{
	NameData	name;
	int			active_pid;

	/* The extension is still there when a savepoint was rolled back. */
	if (event == XACT_EVENT_PRE_COMMIT && drop_slots && get_extension_oid("millrace", true) == InvalidOid)
	{
		while (find_slot(&name, &active_pid))
			ReplicationSlotDrop(NameStr(name), true);
	}
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_ABORT)
		drop_slots = false;
}

/* Whether a command drops this extension */
static bool
drops_millrace(Node *command)
{
	ListCell   *cell;

	if (!IsA(command, DropStmt) || ((DropStmt *) command)->removeType != OBJECT_EXTENSION)
		return false;
	foreach(cell, ((DropStmt *) command)->objects)
	{
		if (strcmp(strVal(lfirst(cell)), "millrace") == 0)
			return true;
	}
	return false;
}

/*
 * Event trigger before DROP EXTENSION: undoes what the extension did outside
 * its schema. A publication cannot belong to an extension, so PostgreSQL does
 * not drop it by itself.
 */
PG_FUNCTION_INFO_V1(millrace_drop_extension);
Datum
millrace_drop_extension(PG_FUNCTION_ARGS)
{
	static bool registered = false;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" must be called as an event trigger", "ml._drop_extension")));
	if (!drops_millrace(((EventTriggerData *) fcinfo->context)->parsetree))
		PG_RETURN_NULL();

	check_slot_idle();
	SPI_connect();
	if (SPI_execute("SELECT ml._release_everything()", false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not release the captured tables");
	SPI_finish();
	if (!registered)
	{
		RegisterXactCallback(on_transaction_event, NULL);
		registered = true;
	}
	drop_slots = true;
	PG_RETURN_NULL();
}
