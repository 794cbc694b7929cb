#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "millrace_layout.h"
#include "miscadmin.h"
#include "project_cache.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/*
 * Answers of "which model predicts for this project, asked by this role".
 *
 * Every statement must see the deployment that its snapshot sees: not an older
 * one, since a deploy was committed, and not a newer one, since a transaction
 * may be repeatable. The tables are read under the active snapshot, and the
 * result is kept until PostgreSQL says that one of the tables, or a role,
 * changed. Two cases need care:
 *
 * A statement may begin before a deploy commits and look afterwards. The
 * message has been received by then, so nothing would ever remove the old
 * answer. Therefore the tables are also read as they are now: an answer that
 * differs is provisional, and only serves the snapshot that gave it.
 *
 * A cursor may fetch under a snapshot that is older than the one an answer was
 * read by, and no message will come between. Therefore an answer serves no
 * snapshot that is older than its own.
 *
 * A statement that needs no lock does not look for messages. Therefore they
 * are looked for whenever the active snapshot is another than the last time.
 */

#define MILLRACE_CACHE_LIMIT 1024	/* entries; a full cache starts over */
#define MILLRACE_NAME_LIMIT 255 /* bytes of a project's name */

typedef struct CacheKey
{
	Oid			role;
	int32		name_length;
	int64		model_id;
	bool		provisional;	/* kept apart: it must not displace what newer snapshots are served */
	char		name[MILLRACE_NAME_LIMIT + 1];
} CacheKey;

/* Enough of a snapshot to tell it from the others of one transaction */
typedef struct SnapshotMark
{
	LocalTransactionId transaction;
	TransactionId xmin;
	TransactionId xmax;
	uint32		running;		/* transactions, and subtransactions on a standby */
	CommandId	command;
} SnapshotMark;

typedef struct CacheEntry
{
	CacheKey	key;			/* must be first */
	SnapshotMark mark;			/* the snapshot that the model was read by */
	MillraceModel model;
} CacheEntry;

static HTAB *entries = NULL;
static MemoryContext entry_context = NULL;
static uint64 generation = 1;	/* goes up with every message that concerns the cache */
static uint64 entries_generation = 0;	/* the generation that the entries belong to */
static Oid	watched_tables[5];
static SnapshotMark last_mark;

/* A table changed: ours, or any */
static void
on_table_change(Datum argument, Oid table)
{
	bool		watched = table == InvalidOid;

	for (int i = 0; i < lengthof(watched_tables); i++)
		watched |= table == watched_tables[i];
	if (watched)
		generation++;
}

/* A role or a membership changed: permissions may have */
static void
on_role_change(Datum argument, int cache, uint32 hash)
{
	generation++;
}

/* Registers for the messages; once per backend */
void
millrace_cache_init(void)
{
	CacheRegisterRelcacheCallback(on_table_change, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, on_role_change, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHOID, on_role_change, (Datum) 0);
}

static SnapshotMark
active_mark(void)
{
	Snapshot	snapshot = GetActiveSnapshot();
	SnapshotMark mark = {
		.transaction = MyProc->lxid,
		.xmin = snapshot->xmin,
		.xmax = snapshot->xmax,
		.running = snapshot->xcnt + (snapshot->takenDuringRecovery ? snapshot->subxcnt : 0),
		.command = snapshot->curcid
	};

	return mark;
}

static bool
same_mark(const SnapshotMark *a, const SnapshotMark *b)
{
	return a->transaction == b->transaction && a->xmin == b->xmin && a->xmax == b->xmax &&
		a->running == b->running && a->command == b->command;
}

/*
 * Whether a snapshot may see less than another. The bounds only ever move up,
 * and between equal bounds transactions only ever end. Told too often, it
 * costs a look at the tables.
 */
static bool
older_mark(const SnapshotMark *a, const SnapshotMark *b)
{
	if (a->transaction == b->transaction && a->command < b->command)
		return true;
	if (a->xmax != b->xmax)
		return TransactionIdPrecedes(a->xmax, b->xmax);
	if (a->xmin != b->xmin)
		return TransactionIdPrecedes(a->xmin, b->xmin);
	return a->running > b->running;
}

/* Whether a model that a lookup gave, and that is not provisional, still serves the active snapshot of the latest generation */
bool
millrace_cache_serves(const MillraceModel *model)
{
	const CacheEntry *entry = (const CacheEntry *) ((const char *) model - offsetof(CacheEntry, model));

	return !older_mark(&last_mark, &entry->mark);
}

/*
 * The generation as of the active snapshot. While it stays the same, a model
 * that is not provisional stays right, and its memory stays in place.
 */
uint64
millrace_cache_generation(void)
{
	SnapshotMark mark = active_mark();

	if (!same_mark(&mark, &last_mark))
	{
		last_mark = mark;
		AcceptInvalidationMessages();
	}
	return generation;
}

/* Throws the entries away when a message came, or there are too many */
static void
refresh_entries(void)
{
	HASHCTL		control = {
		.keysize = sizeof(CacheKey),
		.entrysize = sizeof(CacheEntry),
	};

	if (entries != NULL && hash_get_num_entries(entries) >= MILLRACE_CACHE_LIMIT)
		generation++;
	if (entries != NULL && entries_generation == generation)
		return;
	if (entry_context != NULL)
		MemoryContextDelete(entry_context);
	entries = NULL;
	entry_context = AllocSetContextCreate(CacheMemoryContext, "millrace projects", ALLOCSET_SMALL_SIZES);
	control.hcxt = entry_context;
	entries = hash_create("millrace projects", 32, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	entries_generation = generation;
}

/* Runs one query of ours with one argument, reading as the active snapshot does */
static void
run_query(SPIPlanPtr *plan, const char *query, Oid argument_type, Datum argument)
{
	if (*plan == NULL)
	{
		SPIPlanPtr	prepared = SPI_prepare(query, 1, &argument_type);

		if (prepared == NULL || SPI_keepplan(prepared) != 0)
			elog(ERROR, "could not prepare \"%s\": %s", query, SPI_result_code_string(SPI_result));
		*plan = prepared;
	}
	if (SPI_execute_plan(*plan, &argument, NULL, true, 0) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "\"%s\" did not return one row", query);
}

/* A column of the row just read; NULL for NULL */
static char *
column(const char *name)
{
	int			attribute = SPI_fnumber(SPI_tuptable->tupdesc, name);

	if (attribute <= 0)
		elog(ERROR, "column \"%s\" is missing", name);
	return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, attribute);
}

/* The model key: the first 8 bytes of a SHA-256 in hexadecimal, little-endian */
static uint64
model_key(const char *sha256)
{
	uint64		key = 0;

	for (int i = 7; i >= 0; i--)
	{
		unsigned int byte;

		if (sscanf(sha256 + i * 2, "%2x", &byte) != 1)
			elog(ERROR, "model has a malformed SHA-256");
		key = key << 8 | byte;
	}
	return key;
}

/* Appends "name":"text" to a JSON object */
static void
append_member(StringInfo json, const char *name, const char *value)
{
	appendStringInfo(json, ",\"%s\":", name);
	escape_json(json, value);
}

/* A number of the row just read; 0 for NULL */
static int64
number(const char *name)
{
	char	   *value = column(name);

	return value != NULL ? strtoi64(value, NULL, 10) : 0;
}

/* FNV-1a over numbers as the gateway reads them: little-endian, 8 bytes each */
static uint64
numbers_hash(const int64 *numbers, int count)
{
	const unsigned char *bytes = (const unsigned char *) numbers;
	uint64		hash = MILLRACE_FNV_OFFSET_BASIS;

	for (size_t i = 0; i < count * sizeof(int64); i++)
		hash = (hash ^ bytes[i]) * MILLRACE_FNV_PRIME;
	return hash;
}

/* Adds the limits of the project to the JSON object, if it has any, and names them */
static void
read_limits(MillraceModel *model, StringInfo json)
{
	bool		waits = strcmp(column("on_limit"), "wait") == 0;
	int64		tenant[] = {(int64) GetSystemIdentifier(), MyDatabaseId, number("project_id")};
	bool		has_window = column("merge_window_us") != NULL;
	int64		limits[] = {number("requests_per_second"), number("rows_per_second"), number("concurrent_requests"), waits, number("merge_window_us")};

	model->tenant_key = numbers_hash(tenant, lengthof(tenant));
	model->limits = 0;
	if (limits[0] == 0 && limits[1] == 0 && limits[2] == 0 && !has_window)
		return;
	model->limits = numbers_hash(limits, has_window ? 5 : 4);
	appendStringInfo(json, ",\"limits\":{\"requests-per-second\":" INT64_FORMAT ",\"rows-per-second\":" INT64_FORMAT
					 ",\"concurrent-requests\":" INT64_FORMAT ",\"on-limit\":\"%s\"",
					 limits[0], limits[1], limits[2], waits ? "wait" : "reject");
	if (has_window)
		appendStringInfo(json, ",\"merge-window-micros\":" INT64_FORMAT, limits[4]);
	appendStringInfoChar(json, '}');
}

/* Makes a model out of the row just read, in the given memory */
static void
read_model(MillraceModel *model, MemoryContext context)
{
	StringInfoData json;
	char	   *on_error = column("on_error");
	char	   *utf8;

	initStringInfo(&json);
	appendStringInfo(&json, "{\"model-id\":%s,\"bytes\":%s", column("model_id"), column("bytes"));
	append_member(&json, "project", column("project"));
	append_member(&json, "database", get_database_name(MyDatabaseId));
	append_member(&json, "uri", column("uri"));
	append_member(&json, "sha256", column("sha256"));
	read_limits(model, &json);
	appendStringInfoChar(&json, '}');
	utf8 = pg_server_to_any(json.data, json.len, PG_UTF8);

	model->key = model_key(column("sha256"));
	model->model_id = number("model_id");
	model->on_error_set = on_error != NULL;
	model->on_error = on_error != NULL && strcmp(on_error, "null") == 0 ? MILLRACE_ON_ERROR_NULL : MILLRACE_ON_ERROR_ABORT;
	model->reference_length = strlen(utf8);
	model->reference = MemoryContextStrdup(context, utf8);
}

/* Remembers the tables whose changes matter */
static void
watch_tables(void)
{
	Oid			schema = get_namespace_oid("ml", false);

	watched_tables[0] = get_relname_relid("projects", schema);
	watched_tables[1] = get_relname_relid("deployments", schema);
	watched_tables[2] = get_relname_relid("models", schema);
	watched_tables[3] = get_relname_relid("tasks", schema);
	watched_tables[4] = get_relname_relid("limits", schema);
}

/* The state of the tables as they are now, in one word; NULL when it cannot be told or is none */
static char *
present_token(SPIPlanPtr *plan, const char *query, Oid argument_type, Datum argument)
{
	char	   *token;

	if (IsInParallelMode())
		return NULL;
	PushActiveSnapshot(GetLatestSnapshot());
	run_query(plan, query, argument_type, argument);
	token = column("token");
	PopActiveSnapshot();
	return token;
}

/* Reads the tables. Raises when the project is not there, not permitted, or has nothing deployed. */
static void
resolve(const MillraceModelName *name, CacheEntry *entry, MemoryContext context)
{
	static SPIPlanPtr project_plan,
				project_token_plan,
				model_plan,
				model_token_plan;
	bool		by_id = name->project == NULL;
	Datum		argument;
	char	   *token;
	char	   *now;

	watch_tables();
	SPI_connect();
	if (by_id)
	{
		argument = Int64GetDatum(name->model_id);
		run_query(&model_plan, "SELECT * FROM ml._resolve_model(ml.caller(), $1)", INT8OID, argument);
	}
	else
	{
		argument = PointerGetDatum(cstring_to_text_with_len(name->project, name->project_length));
		run_query(&project_plan, "SELECT * FROM ml._resolve_project(ml.caller(), $1)", TEXTOID, argument);
	}
	read_model(&entry->model, context);
	token = column("token");
	if (by_id)
		now = present_token(&model_token_plan, "SELECT ml._model_token($1) AS token", INT8OID, argument);
	else
		now = present_token(&project_token_plan, "SELECT ml._project_token($1) AS token", TEXTOID, argument);
	entry->model.provisional = now == NULL || strcmp(token, now) != 0;
	entry->mark = active_mark();
	SPI_finish();
}

/* The model that answers for a name, asked by the present role. Valid until the next lookup. */
MillraceModel *
millrace_cache_lookup(const MillraceModelName *name)
{
	CacheKey	key;
	CacheEntry *entry;
	CacheEntry	fresh;
	SnapshotMark mark = active_mark();
	uint64		before;

	if (name->project_length > MILLRACE_NAME_LIMIT)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("project does not exist"),
				 errdetail("The name has %d bytes, the limit is %d.", name->project_length, MILLRACE_NAME_LIMIT)));
	memset(&key, 0, sizeof(key));
	key.role = GetUserId();
	key.model_id = name->model_id;
	if (name->project != NULL)
	{
		key.name_length = name->project_length;
		memcpy(key.name, name->project, name->project_length);
	}

	refresh_entries();
	entry = hash_search(entries, &key, HASH_FIND, NULL);
	if (entry != NULL && !older_mark(&mark, &entry->mark))
		return &entry->model;
	key.provisional = true;
	entry = hash_search(entries, &key, HASH_FIND, NULL);
	if (entry != NULL && same_mark(&entry->mark, &mark))
		return &entry->model;

	before = generation;
	resolve(name, &fresh, TopTransactionContext);
	/* A message that came while reading may be about what was read before it. */
	fresh.model.provisional |= generation != before;
	refresh_entries();
	key.provisional = fresh.model.provisional;
	entry = hash_search(entries, &key, HASH_ENTER, NULL);
	fresh.key = key;
	*entry = fresh;
	entry->model.reference = MemoryContextStrdup(entry_context, fresh.model.reference);
	pfree(fresh.model.reference);
	return &entry->model;
}

/* A copy in the current memory, for who outlives a lookup */
MillraceModel *
millrace_model_copy(const MillraceModel *model)
{
	MillraceModel *copy = palloc(sizeof(MillraceModel));

	*copy = *model;
	copy->reference = pstrdup(model->reference);
	return copy;
}
