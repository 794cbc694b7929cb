#include "postgres.h"

#include "access/htup_details.h"
#include "call_site.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/typcache.h"

/* The state of this call, made when it is the first in its query */
MillraceCallSite *
millrace_call_site(FunctionCallInfo fcinfo)
{
	MillraceCallSite *site = fcinfo->flinfo->fn_extra;

	if (site == NULL)
	{
		MemoryContext prior = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		site = palloc0(sizeof(MillraceCallSite));
		site->context = fcinfo->flinfo->fn_mcxt;
		initStringInfo(&site->rows);
		fcinfo->flinfo->fn_extra = site;
		MemoryContextSwitchTo(prior);
	}
	return site;
}

/* The model for a name; the one of the row before when nothing has changed */
MillraceModel *
millrace_call_site_model(MillraceCallSite *site, const MillraceModelName *name)
{
	uint64		generation = millrace_cache_generation();

	if (site->model != NULL && site->generation == generation && millrace_cache_serves(site->model) && site->role == GetUserId() &&
		site->model_id == name->model_id && site->name_length == name->project_length &&
		memcmp(site->name, name->project != NULL ? name->project : "", name->project_length) == 0)
		return site->model;

	site->model = NULL;
	{
		MillraceModel *model = millrace_cache_lookup(name);

		if (model->provisional || name->project_length > sizeof(site->name))
			return model;
		site->model = model;
	}
	site->generation = millrace_cache_generation();
	site->role = GetUserId();
	site->model_id = name->model_id;
	site->name_length = name->project_length;
	memcpy(site->name, name->project != NULL ? name->project : "", name->project_length);
	return site->model;
}

/* A message about the rows in the call site's buffer */
MillraceMessage
millrace_call_site_message(const MillraceCallSite *site, const MillraceModel *model, uint32 kind, uint32 row_count)
{
	MillraceMessage message = {
		.kind = kind,
		.model_key = model->key,
		.tenant_key = model->tenant_key,
		.limits = model->limits,
		.row_count = row_count,
		.descriptor_hash = site->descriptor->hash,
		.descriptor = site->descriptor->bytes,
		.descriptor_length = site->descriptor->length,
		.reference = model->reference,
		.reference_length = model->reference_length,
		.rows = site->rows.data,
		.rows_length = site->rows.len
	};

	return message;
}

/* Numbers of any type as float8; other elements raise */
ArrayType *
millrace_float8_array(ArrayType *array)
{
	Oid			type = getBaseType(ARR_ELEMTYPE(array));
	int16		length;
	bool		by_value;
	char		alignment;
	Datum	   *values;
	bool	   *nulls;
	int			count;

	if (type == FLOAT8OID)
		return array;
	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	deconstruct_array(array, type, length, by_value, alignment, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			continue;
		switch (type)
		{
			case INT2OID:
				values[i] = Float8GetDatum(DatumGetInt16(values[i]));
				break;
			case INT4OID:
				values[i] = Float8GetDatum(DatumGetInt32(values[i]));
				break;
			case INT8OID:
				values[i] = Float8GetDatum(DatumGetInt64(values[i]));
				break;
			case FLOAT4OID:
				values[i] = Float8GetDatum(DatumGetFloat4(values[i]));
				break;
			case NUMERICOID:
				values[i] = DirectFunctionCall1(numeric_float8, values[i]);
				break;
			default:
				ereport(ERROR,
						(errcode(ERRCODE_DATATYPE_MISMATCH),
						 errmsg("features in an array must be numbers"),
						 errdetail("Their type is %s.", format_type_be(type)),
						 errhint("Give features of other types as a row or as jsonb.")));
		}
	}
	return construct_md_array(values, nulls, ARR_NDIM(array), ARR_DIMS(array), ARR_LBOUND(array),
							  FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
}

/* Frees the descriptor at hand; that of a JSON object lived with its row */
static void
forget_descriptor(MillraceCallSite *site)
{
	if (site->descriptor != NULL && site->row_type != JSONBOID)
	{
		pfree(site->descriptor->bytes);
		if (site->descriptor->columns != NULL)
			pfree(site->descriptor->columns);
		pfree(site->descriptor);
	}
	if (site->row_descriptor != NULL)
		FreeTupleDesc(site->row_descriptor);
	site->row_descriptor = NULL;
	site->descriptor = NULL;
}

/* Makes the descriptor of positional numbers, unless it is the one at hand */
void
millrace_call_site_array_descriptor(MillraceCallSite *site, int element_count)
{
	MemoryContext prior;

	if (site->descriptor != NULL && site->row_type == FLOAT8ARRAYOID && site->descriptor->column_count == element_count)
		return;
	forget_descriptor(site);
	prior = MemoryContextSwitchTo(site->context);
	site->descriptor = millrace_descriptor_of_array(element_count);
	site->row_type = FLOAT8ARRAYOID;
	MemoryContextSwitchTo(prior);
}

/* Encodes an array of numbers as one row */
void
millrace_call_site_array(MillraceCallSite *site, Datum features)
{
	ArrayType  *array = millrace_float8_array(DatumGetArrayTypeP(features));
	int			count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("features must be a one-dimensional array"),
				 errdetail("The array has %d dimensions.", ARR_NDIM(array)),
				 errhint("ml.predict_batch() takes many rows at once.")));
	millrace_call_site_array_descriptor(site, count);
	resetStringInfo(&site->rows);
	millrace_encode_array(&site->rows, array, 0, count, (const float8 *) ARR_DATA_PTR(array));
}

/* Makes the descriptor of a row type, unless it is the one at hand */
static void
row_descriptor(MillraceCallSite *site, Oid type, int32 typmod)
{
	MemoryContext prior;

	if (site->descriptor != NULL && site->row_type == type && site->row_typmod == typmod)
		return;
	forget_descriptor(site);
	prior = MemoryContextSwitchTo(site->context);
	site->row_descriptor = lookup_rowtype_tupdesc_copy(type, typmod);
	site->descriptor = millrace_descriptor_of_tuple(site->row_descriptor, 0);
	site->row_type = type;
	site->row_typmod = typmod;
	MemoryContextSwitchTo(prior);
}

/* Encodes a row: columns by name, or in order when it is anonymous */
void
millrace_call_site_record(MillraceCallSite *site, Datum features)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(features);
	HeapTupleData tuple = {0};

	row_descriptor(site, HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
	tuple.t_len = HeapTupleHeaderGetDatumLength(header);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = header;
	resetStringInfo(&site->rows);
	millrace_encode_tuple(&site->rows, site->descriptor, &tuple, site->row_descriptor);
}

/* The numbers of a JSON array */
static ArrayType *
json_array(Jsonb *json)
{
	int			count = JB_ROOT_COUNT(json);
	Datum	   *values = palloc(sizeof(Datum) * Max(count, 1));
	bool	   *nulls = palloc0(sizeof(bool) * Max(count, 1));
	int			lower_bound = 1;

	for (int i = 0; i < count; i++)
	{
		JsonbValue *element = getIthJsonbValueFromContainer(&json->root, i);

		if (element->type == jbvNull)
			nulls[i] = true;
		else if (element->type == jbvNumeric)
			values[i] = DirectFunctionCall1(numeric_float8, NumericGetDatum(element->val.numeric));
		else
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("features in a JSON array must be numbers"),
					 errdetail("Element %d is none.", i + 1),
					 errhint("Give features of other types as a JSON object.")));
	}
	return construct_md_array(values, nulls, 1, &count, &lower_bound, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
}

/* Encodes a JSON object by its keys, or a JSON array in order */
void
millrace_call_site_jsonb(MillraceCallSite *site, Datum features)
{
	Jsonb	   *json = DatumGetJsonbP(features);

	if (JB_ROOT_IS_ARRAY(json) && !JB_ROOT_IS_SCALAR(json))
	{
		millrace_call_site_array(site, PointerGetDatum(json_array(json)));
		return;
	}
	if (!JB_ROOT_IS_OBJECT(json))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("features must be a JSON object or a JSON array")));
	/* Made for every row: the keys may differ. It only has to last for this call. */
	forget_descriptor(site);
	site->descriptor = millrace_descriptor_of_object(json);
	site->row_type = JSONBOID;
	resetStringInfo(&site->rows);
	millrace_encode_object(&site->rows, site->descriptor, json);
}
