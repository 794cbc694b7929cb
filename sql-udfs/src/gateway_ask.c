#include "postgres.h"

#include "access/htup_details.h"
#include "answer_decode.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "millrace_layout.h"
#include "project_cache.h"
#include "region_attach.h"
#include "request_wait.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

/* Asks something without rows; the one value of the answer, in memory of its own */
static Datum
ask(const MillraceMessage *message, uint16 value_kind)
{
	MillraceRequest *request = millrace_request_start(message);
	MillraceReader reader = millrace_answer_open(millrace_request_finish(request), value_kind, 1, message->model_key);
	MillraceRowError error;
	Datum		value;

	if (!millrace_answer_row(&reader, &error))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg_internal("%s", error.message)));
	if (value_kind == MILLRACE_VALUE_BYTES)
		value = PointerGetDatum(millrace_answer_bytes(&reader));
	else
		value = PointerGetDatum(millrace_answer_text(&reader));
	millrace_answer_close(&reader);
	millrace_request_free(request);
	return value;
}

/* Has the gateway load, verify and warm a model; returns when it is ready and raises when it is not */
PG_FUNCTION_INFO_V1(millrace_load_model);
Datum
millrace_load_model(PG_FUNCTION_ARGS)
{
	MillraceModelName name = {.model_id = PG_GETARG_INT64(0)};
	MillraceModel *model = millrace_model_copy(millrace_cache_lookup(&name));
	MillraceMessage message = {
		.kind = MILLRACE_KIND_LOAD,
		.model_key = model->key,
		.reference = model->reference,
		.reference_length = model->reference_length,
		.send_reference = true
	};

	ask(&message, MILLRACE_VALUE_TEXT);
	PG_RETURN_VOID();
}

/* Has the gateway take a model file into the store: JSON in, JSON out. The same request again is the same package. */
PG_FUNCTION_INFO_V1(millrace_import_model);
Datum
millrace_import_model(PG_FUNCTION_ARGS)
{
	text	   *request = PG_GETARG_TEXT_PP(0);
	char	   *utf8 = pg_server_to_any(VARDATA_ANY(request), VARSIZE_ANY_EXHDR(request), PG_UTF8);
	MillraceMessage message = {
		.kind = MILLRACE_KIND_IMPORT,
		.rows = utf8,
		.rows_length = utf8 == VARDATA_ANY(request) ? VARSIZE_ANY_EXHDR(request) : strlen(utf8)
	};

	PG_RETURN_DATUM(ask(&message, MILLRACE_VALUE_TEXT));
}

/* Sends bytes to the gateway and back */
PG_FUNCTION_INFO_V1(millrace_echo);
Datum
millrace_echo(PG_FUNCTION_ARGS)
{
	bytea	   *payload = PG_GETARG_BYTEA_PP(0);
	MillraceMessage message = {
		.kind = MILLRACE_KIND_ECHO,
		.rows = VARDATA_ANY(payload),
		.rows_length = VARSIZE_ANY_EXHDR(payload)
	};

	PG_RETURN_DATUM(ask(&message, MILLRACE_VALUE_BYTES));
}

/* What the gateway says about itself: JSON */
PG_FUNCTION_INFO_V1(millrace_gateway_status);
Datum
millrace_gateway_status(PG_FUNCTION_ARGS)
{
	MillraceMessage message = {.kind = MILLRACE_KIND_STATUS};

	PG_RETURN_DATUM(ask(&message, MILLRACE_VALUE_TEXT));
}

/* Every metric of the gateway: JSON */
PG_FUNCTION_INFO_V1(millrace_gateway_metrics);
Datum
millrace_gateway_metrics(PG_FUNCTION_ARGS)
{
	MillraceMessage message = {.kind = MILLRACE_KIND_METRICS};

	PG_RETURN_DATUM(ask(&message, MILLRACE_VALUE_TEXT));
}

/* What the control line says, also of a gateway that does not answer: its process and the age of its heartbeat */
PG_FUNCTION_INFO_V1(millrace_gateway_heartbeat);
Datum
millrace_gateway_heartbeat(PG_FUNCTION_ARGS)
{
	TupleDesc	descriptor;
	Datum		values[2];
	bool		nulls[2] = {false, false};
	Interval   *age = palloc0(sizeof(Interval));

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	millrace_request_observe();
	age->time = millrace_region_heartbeat_age_nanos() / 1000;
	values[0] = Int32GetDatum((int32) millrace_region.control->gateway_pid);
	values[1] = IntervalPGetDatum(age);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls)));
}
