#include "postgres.h"

#include "answer_decode.h"
#include "call_site.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "millrace_layout.h"
#include "row_error.h"
#include "tcop/dest.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#define MILLRACE_BATCH_IN_FLIGHT 4	/* one is encoded and one decoded while others are scored */
#define MILLRACE_BATCH_SIZE_MAX 65536
#define MILLRACE_ANSWERED_NUMBER_LENGTH 12	/* row status and float8 */
#define MILLRACE_KEY_ATTRIBUTE 1	/* of the query: the key as text, then the columns of the table */

/* A part of the table on its way through the gateway */
typedef struct Batch
{
	MemoryContext context;		/* keys; reset when the batch is done */
	StringInfoData rows;
	int		   *offsets;		/* of each row in rows */
	text	  **keys;
	int			row_count;
	MillraceRequest *request;	/* NULL when it is not on its way */
} Batch;

/* One call of predict_batch */
typedef struct BatchStream
{
	MillraceModel *model;
	MillraceDescriptor *descriptor;
	uint32		room;			/* bytes of rows that fit one request */
	int			batch_size;		/* rows */
	Batch		batches[MILLRACE_BATCH_IN_FLIGHT];	/* a ring */
	int			first;			/* oldest on its way */
	int			count;			/* on their way */
	Tuplestorestate *store;
	TupleDesc	result;
} BatchStream;

/* Where the rows of a set-returning function go: they spill to disk when they are many */
static Tuplestorestate *
open_result(FunctionCallInfo fcinfo, TupleDesc *descriptor)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, descriptor == NULL ? MAT_SRF_USE_EXPECTED_DESC : 0);
	if (descriptor != NULL)
		*descriptor = result->setDesc;
	return result->setResult;
}

/* A message about some rows of a batch */
static MillraceMessage
message_of_rows(const BatchStream *stream, const Batch *batch, int first, int count)
{
	int			start = batch->offsets[first];
	int			end = first + count < batch->row_count ? batch->offsets[first + count] : batch->rows.len;
	MillraceMessage message = {
		.kind = MILLRACE_KIND_FULL,
		.model_key = stream->model->key,
		.tenant_key = stream->model->tenant_key,
		.limits = stream->model->limits,
		.bulk = true,
		.row_count = count,
		.descriptor_hash = stream->descriptor->hash,
		.descriptor = stream->descriptor->bytes,
		.descriptor_length = stream->descriptor->length,
		.reference = stream->model->reference,
		.reference_length = stream->model->reference_length,
		.rows = batch->rows.data + start,
		.rows_length = end - start
	};

	return message;
}

/* Sends some rows of a batch, waiting for a slot */
static MillraceRequest *
send_rows(BatchStream *stream, Batch *batch, int first, int count)
{
	MillraceMessage message = message_of_rows(stream, batch, first, count);

	return millrace_request_start(&message);
}

/* Adds one answered row to the result */
static void
put_row(BatchStream *stream, MillraceReader *reader, text *key)
{
	Datum		values[4] = {PointerGetDatum(key)};
	bool		nulls[4] = {key == NULL, true, true, true};
	MillraceRowError error;

	if (millrace_answer_row(reader, &error))
	{
		text	   *label;
		ArrayType  *proba;

		values[1] = Float8GetDatum(millrace_answer_float8(reader));
		label = millrace_answer_text(reader);
		proba = millrace_answer_float8_array(reader);
		values[2] = PointerGetDatum(label);
		values[3] = PointerGetDatum(proba);
		nulls[1] = false;
		/* A regression has neither classes nor probabilities. */
		nulls[2] = nulls[3] = ARR_NDIM(proba) == 0;
	}
	else
		millrace_row_error_note(&error);
	tuplestore_putvalues(stream->store, stream->result, values, nulls);
}

/*
 * Waits for some rows of a batch and puts them into the result. How long an
 * answer is depends on the model's classes, so one that did not fit is asked
 * for in halves, and the batches to come are smaller.
 */
static void
finish_rows(BatchStream *stream, Batch *batch, int first, int count, MillraceRequest *request)
{
	MillraceAnswer answer;
	uint32		status = millrace_request_await(request, &answer);

	if (status == MILLRACE_ERROR_PAYLOAD_TOO_LARGE && count > 1)
	{
		int			half = count / 2;

		millrace_request_free(request);
		stream->batch_size = Max(1, Min(stream->batch_size, half));
		finish_rows(stream, batch, first, half, send_rows(stream, batch, first, half));
		finish_rows(stream, batch, first + half, count - half, send_rows(stream, batch, first + half, count - half));
		return;
	}
	if (status != MILLRACE_ERROR_OK)
		millrace_answer_raise(status, answer);
	{
		MillraceReader reader = millrace_answer_open(answer, MILLRACE_VALUE_FULL, count, stream->model->key);

		for (int i = first; i < first + count; i++)
			put_row(stream, &reader, batch->keys[i]);
		millrace_answer_close(&reader);
	}
	millrace_request_free(request);
}

/* Waits for the oldest batch and makes it free for the next rows */
static void
finish_oldest(BatchStream *stream)
{
	Batch	   *batch = &stream->batches[stream->first];
	MemoryContext prior = MemoryContextSwitchTo(batch->context);

	finish_rows(stream, batch, 0, batch->row_count, batch->request);
	MemoryContextSwitchTo(prior);
	batch->request = NULL;
	batch->row_count = 0;
	resetStringInfo(&batch->rows);
	MemoryContextReset(batch->context);
	stream->first = (stream->first + 1) % MILLRACE_BATCH_IN_FLIGHT;
	stream->count--;
}

/*
 * Sends a batch on its way. While others are, it takes a slot only if one is
 * free: answers that wait to be read hold slots that other sessions wait for.
 */
static void
send_batch(BatchStream *stream, Batch *batch)
{
	MillraceMessage message = message_of_rows(stream, batch, 0, batch->row_count);

	while (stream->count > 0 && (batch->request = millrace_request_try_start(&message)) == NULL)
		finish_oldest(stream);
	if (batch->request == NULL)
		batch->request = millrace_request_start(&message);
	stream->count++;
}

/* The batch that is being filled; waits for the oldest when all are on their way */
static Batch *
filling_batch(BatchStream *stream)
{
	Batch	   *batch;

	if (stream->count == MILLRACE_BATCH_IN_FLIGHT)
		finish_oldest(stream);
	batch = &stream->batches[(stream->first + stream->count) % MILLRACE_BATCH_IN_FLIGHT];
	if (batch->row_count == 0)
	{
		batch->keys = MemoryContextAlloc(batch->context, sizeof(text *) * stream->batch_size);
		batch->offsets = MemoryContextAlloc(batch->context, sizeof(int) * stream->batch_size);
	}
	return batch;
}

/* The key of a row, kept with its batch; NULL for a NULL */
static text *
copy_key(Batch *batch, const TupleTableSlot *row)
{
	int			attribute = MILLRACE_KEY_ATTRIBUTE - 1;
	MemoryContext prior;
	text	   *key;

	if (row->tts_isnull[attribute])
		return NULL;
	prior = MemoryContextSwitchTo(batch->context);
	key = DatumGetTextPCopy(row->tts_values[attribute]);
	MemoryContextSwitchTo(prior);
	return key;
}

/* Adds one row of the table; a full batch is sent first */
static void
add_row(BatchStream *stream, TupleTableSlot *row)
{
	Batch	   *batch = filling_batch(stream);
	int			length = batch->rows.len;

	millrace_encode_values(&batch->rows, stream->descriptor, row->tts_values, row->tts_isnull);
	if (batch->row_count > 0 && (batch->row_count >= stream->batch_size || batch->rows.len > stream->room))
	{
		Batch	   *next;
		int			row_length = batch->rows.len - length;

		/* The row opens the next batch: its bytes move over. */
		batch->rows.len = length;
		send_batch(stream, batch);
		next = filling_batch(stream);
		appendBinaryStringInfo(&next->rows, batch->rows.data + length, row_length);
		batch = next;
		length = 0;
	}
	batch->offsets[batch->row_count] = length;
	batch->keys[batch->row_count++] = copy_key(batch, row);
}

/* Makes room for the batches of a stream of such rows; the memory is that of the call */
static void
open_batches(BatchStream *stream, TupleDesc rows)
{
	stream->descriptor = millrace_descriptor_of_tuple(rows, MILLRACE_KEY_ATTRIBUTE);
	stream->room = millrace_request_room().request - stream->descriptor->length - stream->model->reference_length;
	for (int i = 0; i < MILLRACE_BATCH_IN_FLIGHT; i++)
	{
		stream->batches[i].context = AllocSetContextCreate(CurrentMemoryContext, "millrace batch", ALLOCSET_DEFAULT_SIZES);
		initStringInfo(&stream->batches[i].rows);
	}
}

/* Sends what is left and waits for all */
static void
close_batches(BatchStream *stream)
{
	Batch	   *batch = &stream->batches[(stream->first + stream->count) % MILLRACE_BATCH_IN_FLIGHT];

	if (stream->count < MILLRACE_BATCH_IN_FLIGHT && batch->row_count > 0)
		send_batch(stream, batch);
	while (stream->count > 0)
		finish_oldest(stream);
}

/* The query over the table: the key as text, then every column */
static char *
table_query(Oid relation, const char *key_column)
{
	StringInfoData query;
	char	   *name = get_rel_name(relation);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table with OID %u does not exist", relation)));
	if (get_attnum(relation, key_column) <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("key column \"%s\" does not exist in table %s", key_column, name)));
	initStringInfo(&query);
	appendStringInfo(&query, "SELECT t.%s::pg_catalog.text, t.* FROM %s AS t", quote_identifier(key_column),
					 quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name));
	return query.data;
}

/* Where the executor puts the rows of the table */
typedef struct TableReceiver
{
	DestReceiver receiver;		/* first, as the executor only knows it */
	BatchStream *stream;
	TupleDesc	rows;
	MemoryContext stream_context;	/* of the batches */
	MemoryContext row_context;	/* reset after each row */
} TableReceiver;

static void
start_rows(DestReceiver *receiver, int operation, TupleDesc rows)
{
	((TableReceiver *) receiver)->rows = rows;
}

static bool
receive_row(TupleTableSlot *row, DestReceiver *receiver)
{
	TableReceiver *self = (TableReceiver *) receiver;
	MemoryContext prior = MemoryContextSwitchTo(self->stream_context);

	if (self->stream->descriptor == NULL)
		open_batches(self->stream, self->rows);	/* not before: an empty table needs no gateway */
	MemoryContextSwitchTo(self->row_context);
	slot_getallattrs(row);
	add_row(self->stream, row);
	MemoryContextSwitchTo(prior);
	MemoryContextReset(self->row_context);
	return true;
}

static void
end_rows(DestReceiver *receiver)
{
}

/*
 * Reads the table to its end. Rows come straight from the executor, without a
 * tuple made of each in between. Reading checks the caller's rights as always.
 */
static void
stream_table(BatchStream *stream, const char *query)
{
	TableReceiver receiver = {
		.receiver = {
			.receiveSlot = receive_row,
			.rStartup = start_rows,
			.rShutdown = end_rows,
			.rDestroy = end_rows,
			.mydest = DestTuplestore	/* what the executor calls one that is not its own */
		},
		.stream = stream,
		.stream_context = CurrentMemoryContext,
		.row_context = AllocSetContextCreate(CurrentMemoryContext, "millrace row", ALLOCSET_DEFAULT_SIZES)
	};
	SPIExecuteOptions options = {.read_only = true, .dest = &receiver.receiver};
	int			result = SPI_execute_extended(query, &options);

	if (result != SPI_OK_SELECT)
		elog(ERROR, "could not execute \"%s\": %s", query, SPI_result_code_string(result));
}

/* Raises for an argument that is NULL */
static void
check_argument(FunctionCallInfo fcinfo, int number, const char *name)
{
	if (PG_ARGISNULL(number))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be NULL", name)));
}

/* The model of the project in the first argument, in memory of its own */
static MillraceModel *
project_model(FunctionCallInfo fcinfo)
{
	MillraceModelName name = {0};
	text	   *project;

	check_argument(fcinfo, 0, "project name");
	project = PG_GETARG_TEXT_PP(0);
	name.project = VARDATA_ANY(project);
	name.project_length = VARSIZE_ANY_EXHDR(project);
	millrace_cache_generation();
	return millrace_model_copy(millrace_cache_lookup(&name));
}

/* Predicts every row of a table */
PG_FUNCTION_INFO_V1(millrace_predict_batch_relation);
Datum
millrace_predict_batch_relation(PG_FUNCTION_ARGS)
{
	BatchStream stream = {0};

	check_argument(fcinfo, 1, "relation name");
	check_argument(fcinfo, 2, "key column");
	check_argument(fcinfo, 3, "batch_size");
	stream.batch_size = PG_GETARG_INT32(3);
	if (stream.batch_size < 1 || stream.batch_size > MILLRACE_BATCH_SIZE_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("batch_size must be from 1 to %d", MILLRACE_BATCH_SIZE_MAX),
				 errdetail("Got %d.", stream.batch_size)));
	stream.model = project_model(fcinfo);
	stream.store = open_result(fcinfo, &stream.result);

	SPI_connect();
	stream_table(&stream, table_query(PG_GETARG_OID(1), text_to_cstring(PG_GETARG_TEXT_PP(2))));
	close_batches(&stream);
	SPI_finish();
	return (Datum) 0;
}

/* Puts the numbers that answer a batch of array rows into the result */
static void
put_numbers(MillraceMessage *message, const MillraceModel *model, Tuplestorestate *store, TupleDesc result)
{
	MillraceRequest *request = millrace_request_start(message);
	MillraceReader reader = millrace_answer_open(millrace_request_finish(request), MILLRACE_VALUE_SCALAR, message->row_count, model->key);

	for (uint32 i = 0; i < message->row_count; i++)
	{
		MillraceRowError error;
		bool		null = !millrace_answer_row(&reader, &error);
		Datum		value = null ? (Datum) 0 : Float8GetDatum(millrace_answer_float8(&reader));

		if (null)
			millrace_row_error_handle(model, &error);
		tuplestore_putvalues(store, result, &value, &null);
	}
	millrace_answer_close(&reader);
	millrace_request_free(request);
}

/* How many rows of numbers fit one request and their answers one response; at least one, which may be refused */
static int
array_rows_per_request(const MillraceCallSite *site, const MillraceModel *model, int width)
{
	MillraceRoom room = millrace_request_room();
	uint32		companions = site->descriptor->length + model->reference_length;
	uint32		row_length = width * sizeof(float8) + (width + 7) / 8;
	uint32		rows = room.request > companions ? (room.request - companions) / row_length : 0;

	return Max(1, Min(rows, room.response / MILLRACE_ANSWERED_NUMBER_LENGTH));
}

/* Predicts the rows of a two-dimensional array */
PG_FUNCTION_INFO_V1(millrace_predict_batch_array);
Datum
millrace_predict_batch_array(PG_FUNCTION_ARGS)
{
	MillraceCallSite site = {.context = CurrentMemoryContext};
	MillraceModel *model = project_model(fcinfo);
	ArrayType  *array;
	TupleDesc	result;
	Tuplestorestate *store;
	int			width;
	int			row_count;
	int			rows_per_request;
	const float8 *values;

	check_argument(fcinfo, 1, "features");
	array = PG_GETARG_ARRAYTYPE_P(1);
	if (ARR_NDIM(array) > 2)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("features must be an array of one or two dimensions"),
				 errdetail("The array has %d dimensions.", ARR_NDIM(array))));
	store = open_result(fcinfo, NULL);
	result = ((ReturnSetInfo *) fcinfo->resultinfo)->setDesc;
	if (ARR_NDIM(array) == 0)
		return (Datum) 0;

	width = ARR_DIMS(array)[ARR_NDIM(array) - 1];
	row_count = ARR_NDIM(array) == 2 ? ARR_DIMS(array)[0] : 1;
	initStringInfo(&site.rows);
	millrace_call_site_array_descriptor(&site, width);
	rows_per_request = array_rows_per_request(&site, model, width);
	values = (const float8 *) ARR_DATA_PTR(array);
	for (int first = 0; first < row_count; first += rows_per_request)
	{
		int			count = Min(rows_per_request, row_count - first);
		MillraceMessage message;

		resetStringInfo(&site.rows);
		for (int i = first; i < first + count; i++)
			values = millrace_encode_array(&site.rows, array, i * width, width, values);
		message = millrace_call_site_message(&site, model, MILLRACE_KIND_PREDICT, count);
		message.bulk = true;
		put_numbers(&message, model, store, result);
	}
	return (Datum) 0;
}
