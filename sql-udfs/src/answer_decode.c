#include "postgres.h"

#include "answer_decode.h"
#include "catalog/pg_type.h"
#include "error_raise.h"
#include "mb/pg_wchar.h"
#include "millrace_layout.h"
#include "region_attach.h"
#include "utils/builtins.h"

/* The next bytes, which must be there */
static const char *
take(MillraceReader *reader, size_t length)
{
	const char *bytes = reader->next;

	if (length > (size_t) (reader->end - reader->next))
		millrace_error_malformed("A value does not end inside the response.");
	reader->next += length;
	return bytes;
}

static uint32
take_uint32(MillraceReader *reader)
{
	uint32		value;

	memcpy(&value, take(reader, sizeof(value)), sizeof(value));
	return value;
}

/* A text with its length before it, from UTF-8 to the database's encoding; what that cannot hold raises */
static char *
take_cstring(MillraceReader *reader)
{
	uint32		length = take_uint32(reader);
	const char *bytes = take(reader, length);
	char	   *copy = pnstrdup(bytes, length);

	if (strlen(copy) != length)
		millrace_error_malformed("A text contains a zero byte.");
	return pg_any_to_server(copy, length, PG_UTF8);
}

/* Raises what a response of a status that is not OK reports */
void
millrace_answer_raise(uint32 status, MillraceAnswer answer)
{
	MillraceReader reader = {.next = answer.bytes, .end = answer.bytes + answer.length};
	char	   *message;
	char	   *hint;

	if (status == MILLRACE_ERROR_DISK_FULL && answer.length == 0)
		millrace_error_raise(status, "the region of the gateway has no memory for an answer", MILLRACE_REGION_FULL_HINT);
	message = take_cstring(&reader);
	hint = take_cstring(&reader);
	millrace_error_raise(status, message, hint);
}

/* Checks the header of an answer against what was asked and stands before its first row */
MillraceReader
millrace_answer_open(MillraceAnswer answer, uint16 value_kind, uint32 row_count, uint64 model_key)
{
	MillraceReader reader = {.next = answer.bytes, .end = answer.bytes + answer.length};
	const char *header = take(&reader, MILLRACE_RESPONSE_HEADER_LENGTH);
	uint16		version;

	memcpy(&version, header + MILLRACE_RESPONSE_VERSION_OFFSET, sizeof(version));
	memcpy(&reader.value_kind, header + MILLRACE_RESPONSE_VALUE_KIND_OFFSET, sizeof(uint16));
	memcpy(&reader.rows_left, header + MILLRACE_RESPONSE_ROW_COUNT_OFFSET, sizeof(uint32));
	memcpy(&reader.model_key, header + MILLRACE_RESPONSE_MODEL_KEY_OFFSET, sizeof(uint64));
	if (version != MILLRACE_ENVELOPE_VERSION)
		millrace_error_malformed("The response has an unknown version.");
	if (reader.value_kind != value_kind)
		millrace_error_malformed("The response is of another kind than the request.");
	if (reader.rows_left != row_count)
		millrace_error_malformed("The response has another number of rows than the request.");
	if (model_key != 0 && reader.model_key != model_key)
		millrace_error_malformed("Another model answered than the one asked.");
	return reader;
}

/* Moves to the next row. False when it was not answered: then error says why. */
bool
millrace_answer_row(MillraceReader *reader, MillraceRowError *error)
{
	Assert(reader->rows_left > 0);
	reader->rows_left--;
	error->code = take_uint32(reader);
	if (error->code == MILLRACE_ERROR_OK)
		return true;
	error->message = take_cstring(reader);
	return false;
}

/* Checks that the answer ends after its last row */
void
millrace_answer_close(const MillraceReader *reader)
{
	if (reader->rows_left != 0 || reader->next != reader->end)
		millrace_error_malformed("The response does not end after its last row.");
}

float8
millrace_answer_float8(MillraceReader *reader)
{
	float8		value;

	memcpy(&value, take(reader, sizeof(value)), sizeof(value));
	return value;
}

text *
millrace_answer_text(MillraceReader *reader)
{
	return cstring_to_text(take_cstring(reader));
}

/* A one-dimensional array of numbers of a fixed width, copied as they are */
static ArrayType *
take_array(MillraceReader *reader, Oid type, size_t width)
{
	uint32		count = take_uint32(reader);
	size_t		length = (size_t) count * width;
	const char *values = take(reader, length);
	ArrayType  *array;

	if (count == 0)
		return construct_empty_array(type);
	array = palloc0(ARR_OVERHEAD_NONULLS(1) + length);
	SET_VARSIZE(array, ARR_OVERHEAD_NONULLS(1) + length);
	array->ndim = 1;
	array->elemtype = type;
	ARR_DIMS(array)[0] = count;
	ARR_LBOUND(array)[0] = 1;
	memcpy(ARR_DATA_PTR(array), values, length);
	return array;
}

ArrayType *
millrace_answer_float8_array(MillraceReader *reader)
{
	return take_array(reader, FLOAT8OID, sizeof(float8));
}

ArrayType *
millrace_answer_float4_array(MillraceReader *reader)
{
	return take_array(reader, FLOAT4OID, sizeof(float4));
}

bytea *
millrace_answer_bytes(MillraceReader *reader)
{
	uint32		length = take_uint32(reader);
	const char *bytes = take(reader, length);
	bytea	   *value = palloc(VARHDRSZ + length);

	SET_VARSIZE(value, VARHDRSZ + length);
	memcpy(VARDATA(value), bytes, length);
	return value;
}
