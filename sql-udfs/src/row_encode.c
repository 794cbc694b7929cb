#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "catalog/pg_type_d.h"
#include "datatype/timestamp.h"
#include "mb/pg_wchar.h"
#include "millrace_layout.h"
#include "row_encode.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#define MILLRACE_FIXED_WIDTH_MAX ((int) sizeof(float8))
#define EPOCH_DAYS (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)

/* Length of a row's bitmap of NULLs */
static inline int
bitmap_length(int column_count)
{
	return (column_count + 7) / 8;
}

/* Appends a bitmap with no NULL and returns its offset: the buffer may move */
static int
append_bitmap(StringInfo rows, int column_count)
{
	int			offset = rows->len;
	int			length = bitmap_length(column_count);

	enlargeStringInfo(rows, length);
	memset(rows->data + offset, 0, length);
	rows->len += length;
	return offset;
}

static inline void
mark_null(StringInfo rows, int bitmap_offset, int column)
{
	rows->data[bitmap_offset + column / 8] |= 1 << (column % 8);
}

/* Appends characters as UTF-8, their length before them */
static void
append_text(StringInfo rows, const char *characters, int length)
{
	char	   *utf8 = pg_server_to_any(characters, length, PG_UTF8);
	uint32		utf8_length = utf8 == characters ? length : strlen(utf8);

	appendBinaryStringInfo(rows, (const char *) &utf8_length, sizeof(utf8_length));
	appendBinaryStringInfo(rows, utf8, utf8_length);
}

/* Starts a descriptor: the number of columns */
static void
start_descriptor(StringInfo bytes, int column_count)
{
	uint16		count = column_count;

	if (column_count > MILLRACE_REQUEST_COLUMN_LIMIT)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a row has too many features"),
				 errdetail("It has %d, the limit is %d.", column_count, MILLRACE_REQUEST_COLUMN_LIMIT)));
	initStringInfo(bytes);
	appendBinaryStringInfo(bytes, (const char *) &count, sizeof(count));
}

/* Appends one column; an empty name makes it positional */
static void
append_column(StringInfo bytes, int type, const char *name, int name_length)
{
	char	   *utf8 = pg_server_to_any(name, name_length, PG_UTF8);
	uint16		length = utf8 == name ? name_length : strlen(utf8);

	if (length > MILLRACE_REQUEST_NAME_LIMIT)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("the name of a feature is too long"),
				 errdetail("It has %u bytes, the limit is %d.", length, MILLRACE_REQUEST_NAME_LIMIT)));
	appendStringInfoChar(bytes, type);
	appendBinaryStringInfo(bytes, (const char *) &length, sizeof(length));
	appendBinaryStringInfo(bytes, utf8, length);
}

/* Makes the descriptor known by the FNV-1a hash of its bytes */
static MillraceDescriptor *
finish_descriptor(StringInfo bytes, int column_count, MillraceColumn *columns)
{
	MillraceDescriptor *descriptor = palloc(sizeof(MillraceDescriptor));

	descriptor->hash = MILLRACE_FNV_OFFSET_BASIS;
	for (int i = 0; i < bytes->len; i++)
		descriptor->hash = (descriptor->hash ^ (uint8) bytes->data[i]) * MILLRACE_FNV_PRIME;
	descriptor->length = bytes->len;
	descriptor->bytes = bytes->data;
	descriptor->column_count = column_count;
	descriptor->columns = columns;
	return descriptor;
}

/* The descriptor of an array of numbers: positional */
MillraceDescriptor *
millrace_descriptor_of_array(int element_count)
{
	StringInfoData bytes;

	start_descriptor(&bytes, element_count);
	for (int i = 0; i < element_count; i++)
		append_column(&bytes, MILLRACE_TYPE_FLOAT64, "", 0);
	return finish_descriptor(&bytes, element_count, NULL);
}

/* How a type goes on the wire; 0 when it does not */
static int
type_on_wire(Oid type, MillraceConversion *conversion)
{
	char		category;
	bool		preferred;

	switch (type)
	{
		case BOOLOID:
			*conversion = MILLRACE_FROM_BOOL;
			return MILLRACE_TYPE_BOOLEAN;
		case INT2OID:
			*conversion = MILLRACE_FROM_INT2;
			return MILLRACE_TYPE_INT64;
		case INT4OID:
			*conversion = MILLRACE_FROM_INT4;
			return MILLRACE_TYPE_INT64;
		case INT8OID:
			*conversion = MILLRACE_FROM_INT8;
			return MILLRACE_TYPE_INT64;
		case FLOAT4OID:
			*conversion = MILLRACE_FROM_FLOAT4;
			return MILLRACE_TYPE_FLOAT64;
		case FLOAT8OID:
			*conversion = MILLRACE_FROM_FLOAT8;
			return MILLRACE_TYPE_FLOAT64;
		case NUMERICOID:
			*conversion = MILLRACE_FROM_NUMERIC;
			return MILLRACE_TYPE_FLOAT64;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			*conversion = MILLRACE_FROM_TEXT;
			return MILLRACE_TYPE_TEXT;
		case UUIDOID:
		case UNKNOWNOID:
			*conversion = MILLRACE_FROM_OUTPUT;
			return MILLRACE_TYPE_TEXT;
		case DATEOID:
			*conversion = MILLRACE_FROM_DATE;
			return MILLRACE_TYPE_DATE;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			*conversion = MILLRACE_FROM_TIMESTAMP;
			return MILLRACE_TYPE_TIMESTAMP;
	}
	get_type_category_preferred(type, &category, &preferred);
	if (category == TYPCATEGORY_ENUM || category == TYPCATEGORY_STRING)
	{
		*conversion = MILLRACE_FROM_OUTPUT; /* enums, citext */
		return MILLRACE_TYPE_TEXT;
	}
	return 0;
}

/* Whether the fields of a row have no names of their own, as those of ROW(..) have none */
static bool
is_anonymous(TupleDesc tuple_descriptor)
{
	if (tuple_descriptor->tdtypeid != RECORDOID)
		return false;
	for (int i = 0; i < tuple_descriptor->natts; i++)
	{
		char		name[NAMEDATALEN];

		snprintf(name, sizeof(name), "f%d", i + 1);
		if (strcmp(NameStr(TupleDescAttr(tuple_descriptor, i)->attname), name) != 0)
			return false;
	}
	return true;
}

/*
 * The descriptor of a row. Columns of types that cannot be features are left
 * out: a model that wants one says that it is missing, others do not care. An
 * anonymous row is positional, so there none can be left out.
 */
MillraceDescriptor *
millrace_descriptor_of_tuple(TupleDesc tuple_descriptor, int skipped_attribute)
{
	bool		anonymous = is_anonymous(tuple_descriptor);
	MillraceColumn *columns = palloc0(sizeof(MillraceColumn) * tuple_descriptor->natts);
	StringInfoData names;
	StringInfoData bytes;
	int			count = 0;

	initStringInfo(&names);
	for (int i = 0; i < tuple_descriptor->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(tuple_descriptor, i);
		MillraceColumn *column = &columns[count];
		Oid			type;
		const char *name = anonymous ? "" : NameStr(attribute->attname);
		int			wire;

		if (attribute->attisdropped || i + 1 == skipped_attribute)
			continue;
		type = getBaseType(attribute->atttypid);	/* a dropped column has no type any more */
		wire = type_on_wire(type, &column->conversion);
		if (wire == 0 && anonymous)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("field %d of the row has a type that cannot be a feature", i + 1),
					 errdetail("Its type is %s.", format_type_be(type))));
		if (wire == 0)
			continue;
		column->attribute = i + 1;
		if (column->conversion == MILLRACE_FROM_OUTPUT)
		{
			Oid			function;
			bool		is_varlena;

			getTypeOutputInfo(type, &function, &is_varlena);
			fmgr_info(function, &column->output);
		}
		append_column(&names, wire, name, strlen(name));
		count++;
	}
	start_descriptor(&bytes, count);
	appendBinaryStringInfo(&bytes, names.data, names.len);
	pfree(names.data);
	return finish_descriptor(&bytes, count, columns);
}

/*
 * Appends elements of a float8 array as one positional row. values points at
 * the first of them in the array's data, where NULL takes no room; returns
 * where the next row's begin.
 */
const float8 *
millrace_encode_array(StringInfo rows, ArrayType *array, int first, int count, const float8 *values)
{
	bits8	   *nulls = ARR_NULLBITMAP(array);
	int			bitmap = append_bitmap(rows, count);

	if (nulls == NULL)
	{
		appendBinaryStringInfo(rows, (const char *) values, count * sizeof(float8));
		return values + count;
	}
	for (int i = first; i < first + count; i++)
	{
		if (nulls[i / 8] & (1 << (i % 8)))
			appendBinaryStringInfo(rows, (const char *) values++, sizeof(float8));
		else
			mark_null(rows, bitmap, i - first);
	}
	return values;
}

/* Days or microseconds from the epoch of PostgreSQL to that of Unix; an infinity stays at the end of its range */
static int32
unix_days(DateADT date)
{
	return DATE_NOT_FINITE(date) ? date : date + EPOCH_DAYS;
}

static int64
unix_micros(Timestamp timestamp)
{
	return TIMESTAMP_NOT_FINITE(timestamp) ? timestamp : timestamp + EPOCH_DAYS * USECS_PER_DAY;
}

/* Appends one value that is not NULL; there is room for one of fixed width */
static inline void
append_value(StringInfo rows, MillraceColumn *column, Datum value)
{
	union
	{
		uint8		boolean;
		int64		integer;
		float8		number;
		int32		days;
	}			wire;

#define APPEND(field, expression) \
	do { \
		wire.field = (expression); \
		memcpy(rows->data + rows->len, &wire.field, sizeof(wire.field)); \
		rows->len += sizeof(wire.field); \
	} while (0)

	switch (column->conversion)
	{
		case MILLRACE_FROM_BOOL:
			APPEND(boolean, DatumGetBool(value) ? 1 : 0);
			break;
		case MILLRACE_FROM_INT2:
			APPEND(integer, DatumGetInt16(value));
			break;
		case MILLRACE_FROM_INT4:
			APPEND(integer, DatumGetInt32(value));
			break;
		case MILLRACE_FROM_INT8:
			APPEND(integer, DatumGetInt64(value));
			break;
		case MILLRACE_FROM_FLOAT4:
			APPEND(number, DatumGetFloat4(value));
			break;
		case MILLRACE_FROM_FLOAT8:
			APPEND(number, DatumGetFloat8(value));
			break;
		case MILLRACE_FROM_NUMERIC:
			APPEND(number, DatumGetFloat8(DirectFunctionCall1(numeric_float8, value)));
			break;
		case MILLRACE_FROM_DATE:
			APPEND(days, unix_days(DatumGetDateADT(value)));
			break;
		case MILLRACE_FROM_TIMESTAMP:
			APPEND(integer, unix_micros(DatumGetTimestamp(value)));
			break;
		case MILLRACE_FROM_TEXT:
			{
				text	   *characters = DatumGetTextPP(value);

				append_text(rows, VARDATA_ANY(characters), VARSIZE_ANY_EXHDR(characters));
				break;
			}
		case MILLRACE_FROM_OUTPUT:
			{
				char	   *characters = OutputFunctionCall(&column->output, value);

				append_text(rows, characters, strlen(characters));
				break;
			}
	}
#undef APPEND
}

/* Whether a column's values differ in length */
static inline bool
is_variable(const MillraceColumn *column)
{
	return column->conversion == MILLRACE_FROM_TEXT || column->conversion == MILLRACE_FROM_OUTPUT;
}

/*
 * Appends the values of a row's attributes by its descriptor. Room is made for
 * all columns at a time, as if the rest of the row were of fixed width: most
 * rows are many numbers.
 */
void
millrace_encode_values(StringInfo rows, MillraceDescriptor *descriptor, const Datum *values, const bool *nulls)
{
	int			count = descriptor->column_count;
	int			bitmap = append_bitmap(rows, count);

	enlargeStringInfo(rows, count * MILLRACE_FIXED_WIDTH_MAX);
	for (int i = 0; i < count; i++)
	{
		MillraceColumn *column = &descriptor->columns[i];

		if (nulls[column->attribute - 1])
		{
			mark_null(rows, bitmap, i);
			continue;
		}
		append_value(rows, column, values[column->attribute - 1]);
		if (is_variable(column))
			enlargeStringInfo(rows, (count - i) * MILLRACE_FIXED_WIDTH_MAX);
	}
}

/* Appends a row by its descriptor */
void
millrace_encode_tuple(StringInfo rows, MillraceDescriptor *descriptor, HeapTuple tuple, TupleDesc tuple_descriptor)
{
	Datum		values[MaxTupleAttributeNumber];
	bool		nulls[MaxTupleAttributeNumber];

	heap_deform_tuple(tuple, tuple_descriptor, values, nulls);
	millrace_encode_values(rows, descriptor, values, nulls);
}

/* How a JSON value goes on the wire; 0 when it does not */
static int
json_type_on_wire(const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvNull:			/* a NULL text suits every feature */
		case jbvString:
			return MILLRACE_TYPE_TEXT;
		case jbvNumeric:
			return MILLRACE_TYPE_FLOAT64;
		case jbvBool:
			return MILLRACE_TYPE_BOOLEAN;
		default:
			return 0;
	}
}

/* Appends one JSON value that goes on the wire and is not null */
static void
append_json_value(StringInfo rows, const JsonbValue *value)
{
	if (value->type == jbvString)
		append_text(rows, value->val.string.val, value->val.string.len);
	else if (value->type == jbvBool)
		appendStringInfoChar(rows, value->val.boolean ? 1 : 0);
	else
	{
		float8		number = DatumGetFloat8(DirectFunctionCall1(numeric_float8, NumericGetDatum(value->val.numeric)));

		appendBinaryStringInfo(rows, (const char *) &number, sizeof(number));
	}
}

/*
 * The descriptor of a JSON object: its keys and the types of their values.
 * Objects and arrays in it are left out, as columns of such types are.
 */
MillraceDescriptor *
millrace_descriptor_of_object(Jsonb *object)
{
	JsonbIterator *iterator = JsonbIteratorInit(&object->root);
	JsonbIteratorToken token;
	JsonbValue	key = {0};
	JsonbValue	value;
	StringInfoData names;
	StringInfoData bytes;
	int			count = 0;

	initStringInfo(&names);
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			key = value;
		else if (token == WJB_VALUE && json_type_on_wire(&value) != 0)
		{
			append_column(&names, json_type_on_wire(&value), key.val.string.val, key.val.string.len);
			count++;
		}
	}
	start_descriptor(&bytes, count);
	appendBinaryStringInfo(&bytes, names.data, names.len);
	return finish_descriptor(&bytes, count, NULL);
}

/* Appends the values of a JSON object by its descriptor */
void
millrace_encode_object(StringInfo rows, const MillraceDescriptor *descriptor, Jsonb *object)
{
	JsonbIterator *iterator = JsonbIteratorInit(&object->root);
	JsonbIteratorToken token;
	JsonbValue	value;
	int			bitmap = append_bitmap(rows, descriptor->column_count);
	int			index = 0;

	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token != WJB_VALUE || json_type_on_wire(&value) == 0)
			continue;
		if (value.type == jbvNull)
			mark_null(rows, bitmap, index);
		else
			append_json_value(rows, &value);
		index++;
	}
}
