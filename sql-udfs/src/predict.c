#include "postgres.h"

#include "access/htup_details.h"
#include "answer_decode.h"
#include "call_site.h"
#include "catalog/pg_type.h"
#include "millrace_layout.h"
#include "row_error.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Answers NULL for features that are NULL as a whole, or raises */
static Datum
null_features(FunctionCallInfo fcinfo, const MillraceModel *model)
{
	MillraceRowError error = {MILLRACE_ERROR_NULL_ROW, "features must not be NULL"};

	millrace_row_error_handle(model, &error);
	PG_RETURN_NULL();
}

/* What a kind of request answers for a row */
static uint16
value_kind(uint32 kind)
{
	switch (kind)
	{
		case MILLRACE_KIND_PREDICT:
			return MILLRACE_VALUE_SCALAR;
		case MILLRACE_KIND_PROBA:
			return MILLRACE_VALUE_VECTOR;
		case MILLRACE_KIND_CLASS:
			return MILLRACE_VALUE_TEXT;
		default:
			Assert(kind == MILLRACE_KIND_PREPROCESS);
			return MILLRACE_VALUE_VECTOR32;
	}
}

/* The value of an answered row as SQL has it */
static Datum
row_value(MillraceReader *reader, uint32 kind)
{
	switch (kind)
	{
		case MILLRACE_KIND_PREDICT:
			return Float8GetDatum(millrace_answer_float8(reader));
		case MILLRACE_KIND_PROBA:
			return PointerGetDatum(millrace_answer_float8_array(reader));
		case MILLRACE_KIND_CLASS:
			return PointerGetDatum(millrace_answer_text(reader));
		default:
			return PointerGetDatum(millrace_answer_float4_array(reader));
	}
}

/* Asks about the one row that the call site has encoded */
static Datum
ask_row(FunctionCallInfo fcinfo, MillraceCallSite *site, const MillraceModel *model, uint32 kind)
{
	MillraceMessage message = millrace_call_site_message(site, model, kind, 1);
	MillraceRequest *request = millrace_request_start(&message);
	MillraceReader reader = millrace_answer_open(millrace_request_finish(request), value_kind(kind), 1, model->key);
	MillraceRowError error;
	Datum		value = (Datum) 0;
	bool		answered = millrace_answer_row(&reader, &error);

	if (answered)
		value = row_value(&reader, kind);
	millrace_answer_close(&reader);
	millrace_request_free(request);
	if (answered)
		return value;
	millrace_row_error_handle(model, &error);
	PG_RETURN_NULL();
}

/* The model named by the first argument: a project's name, or a model's id */
static MillraceModel *
named_model(FunctionCallInfo fcinfo, MillraceCallSite *site, bool by_id)
{
	MillraceModelName name = {0};

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 by_id ? errmsg("model id must not be NULL") : errmsg("project name must not be NULL")));
	if (by_id)
		name.model_id = PG_GETARG_INT64(0);
	else
	{
		text	   *project = PG_GETARG_TEXT_PP(0);

		name.project = VARDATA_ANY(project);
		name.project_length = VARSIZE_ANY_EXHDR(project);
	}
	return millrace_call_site_model(site, &name);
}

/* Any of the functions below */
static Datum
predict(FunctionCallInfo fcinfo, uint32 kind, bool by_id, MillraceEncoder encode)
{
	MillraceCallSite *site = millrace_call_site(fcinfo);
	MillraceModel *model = named_model(fcinfo, site, by_id);

	if (PG_ARGISNULL(1))
		return null_features(fcinfo, model);
	encode(site, PG_GETARG_DATUM(1));
	return ask_row(fcinfo, site, model, kind);
}

PG_FUNCTION_INFO_V1(millrace_predict_array);
Datum
millrace_predict_array(PG_FUNCTION_ARGS)
{
	return predict(fcinfo, MILLRACE_KIND_PREDICT, false, millrace_call_site_array);
}

PG_FUNCTION_INFO_V1(millrace_predict_record);
Datum
millrace_predict_record(PG_FUNCTION_ARGS)
{
	return predict(fcinfo, MILLRACE_KIND_PREDICT, false, millrace_call_site_record);
}

PG_FUNCTION_INFO_V1(millrace_predict_jsonb);
Datum
millrace_predict_jsonb(PG_FUNCTION_ARGS)
{
	return predict(fcinfo, MILLRACE_KIND_PREDICT, false, millrace_call_site_jsonb);
}

PG_FUNCTION_INFO_V1(millrace_predict_model_array);
Datum
millrace_predict_model_array(PG_FUNCTION_ARGS)
{
	return predict(fcinfo, MILLRACE_KIND_PREDICT, true, millrace_call_site_array);
}

PG_FUNCTION_INFO_V1(millrace_predict_model_record);
Datum
millrace_predict_model_record(PG_FUNCTION_ARGS)
{
	return predict(fcinfo, MILLRACE_KIND_PREDICT, true, millrace_call_site_record);
}

PG_FUNCTION_INFO_V1(millrace_predict_proba_array);
Datum
millrace_predict_proba_array(PG_FUNCTION_ARGS)
{
	return predict(fcinfo, MILLRACE_KIND_PROBA, false, millrace_call_site_array);
}

PG_FUNCTION_INFO_V1(millrace_predict_proba_record);
Datum
millrace_predict_proba_record(PG_FUNCTION_ARGS)
{
	return predict(fcinfo, MILLRACE_KIND_PROBA, false, millrace_call_site_record);
}

PG_FUNCTION_INFO_V1(millrace_preprocess);
Datum
millrace_preprocess(PG_FUNCTION_ARGS)
{
	return predict(fcinfo, MILLRACE_KIND_PREPROCESS, false, millrace_call_site_record);
}

/* Features of any shape: a row, an array of numbers, or jsonb */
PG_FUNCTION_INFO_V1(millrace_predict_class);
Datum
millrace_predict_class(PG_FUNCTION_ARGS)
{
	Oid			type = getBaseType(get_fn_expr_argtype(fcinfo->flinfo, 1));

	if (type == JSONBOID)
		return predict(fcinfo, MILLRACE_KIND_CLASS, false, millrace_call_site_jsonb);
	if (type_is_rowtype(type))
		return predict(fcinfo, MILLRACE_KIND_CLASS, false, millrace_call_site_record);
	if (type_is_array(type))
		return predict(fcinfo, MILLRACE_KIND_CLASS, false, millrace_call_site_array);
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("features must be a row, an array of numbers, or jsonb"),
			 errdetail("Their type is %s.", format_type_be(type))));
	PG_RETURN_NULL();
}
