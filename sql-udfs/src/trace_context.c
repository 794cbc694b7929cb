#include "postgres.h"

#include "miscadmin.h"
#include "port.h"
#include "trace_context.h"

#define MILLRACE_TRACEPARENT_LENGTH 55	/* 00-<32>-<16>-<2> */
#define MILLRACE_TRACE_ID_START 3
#define MILLRACE_SPAN_ID_START 36
#define MILLRACE_TRACE_FLAGS_START 53

/* What ml.traceparent says, in the bytes of a slot line */
typedef struct MillraceTrace
{
	uint8_t		trace_id[16];
	uint8_t		span_id[8];
	uint8_t		flags;
} MillraceTrace;

static const MillraceTrace *caller_trace;	/* owned by the setting; NULL when that is empty */

/* The value of a hexadecimal digit; -1 for any other character, upper case too, as the standard has it */
static int
digit_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Reads bytes written as hexadecimal digits; false when they are not */
static bool
read_bytes(const char *digits, uint8_t *bytes, int length)
{
	for (int i = 0; i < length; i++)
	{
		int			high = digit_value(digits[2 * i]);
		int			low = digit_value(digits[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		bytes[i] = (uint8_t) (high << 4 | low);
	}
	return true;
}

static bool
is_zero(const uint8_t *bytes, int length)
{
	for (int i = 0; i < length; i++)
	{
		if (bytes[i] != 0)
			return false;
	}
	return true;
}

/* Reads the form of https://www.w3.org/TR/trace-context/; false when the text is not of it */
static bool
parse(const char *text, MillraceTrace *trace)
{
	return strlen(text) == MILLRACE_TRACEPARENT_LENGTH && strncmp(text, "00-", MILLRACE_TRACE_ID_START) == 0 &&
		text[MILLRACE_SPAN_ID_START - 1] == '-' && text[MILLRACE_TRACE_FLAGS_START - 1] == '-' &&
		read_bytes(text + MILLRACE_TRACE_ID_START, trace->trace_id, sizeof(trace->trace_id)) &&
		read_bytes(text + MILLRACE_SPAN_ID_START, trace->span_id, sizeof(trace->span_id)) &&
		read_bytes(text + MILLRACE_TRACE_FLAGS_START, &trace->flags, sizeof(trace->flags)) &&
		!is_zero(trace->trace_id, sizeof(trace->trace_id)) && !is_zero(trace->span_id, sizeof(trace->span_id));
}

/* Check hook of ml.traceparent: what it says is parsed once, here */
bool
millrace_trace_check(char **value, void **extra, GucSource source)
{
	MillraceTrace trace;

	if (**value == '\0')
		return true;
	if (!parse(*value, &trace))
	{
		GUC_check_errdetail("It must be empty or 00-<trace id of 32 hexadecimal digits>-<span id of 16>-<flags of 2>, in lower case, with no id all zeros.");
		return false;
	}
	*extra = malloc(sizeof(trace)); /* the setting frees it */
	if (*extra == NULL)
		return false;
	memcpy(*extra, &trace, sizeof(trace));
	return true;
}

/* Assign hook of ml.traceparent */
void
millrace_trace_assign(const char *value, void *extra)
{
	caller_trace = extra;
}

/* Spreads the bits of a number (the finalizer of splitmix64); never 0, which no trace id may be */
static uint64
mixed(uint64 value)
{
	value = (value ^ (value >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return (value ^ (value >> 31)) | 1;
}

/* What tells the traces of this backend from those of all others */
static const uint64 *
backend_seeds(void)
{
	static uint64 seeds[2] = {0, 0};

	if (seeds[0] == 0 && !pg_strong_random(seeds, sizeof(seeds)))
		seeds[0] = mixed((uint64) MyProcPid << 32 ^ (uint64) MyStartTimestamp);
	return seeds;
}

/* Tells the gateway the caller's trace, or a new one that nobody has a span in. The number is another one for each request. */
void
millrace_trace_write(MillraceSlotLine *line, uint64 number)
{
	if (caller_trace != NULL)
	{
		memcpy(line->trace_id, caller_trace->trace_id, sizeof(line->trace_id));
		memcpy(line->span_id, caller_trace->span_id, sizeof(line->span_id));
		line->trace_flags = caller_trace->flags;
	}
	else
	{
		const uint64 *seeds = backend_seeds();
		uint64		trace_id[] = {mixed(seeds[0] + number), mixed(seeds[1] ^ number)};

		memcpy(line->trace_id, trace_id, sizeof(line->trace_id));
		memset(line->span_id, 0, sizeof(line->span_id));
		line->trace_flags = 0;
	}
}
