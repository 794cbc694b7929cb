#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/varlena.h"

#define MILLRACE_NEAREST_LIMIT 3	/* names in one hint */
#define MILLRACE_NEAREST_LENGTH 200 /* bytes; longer names are not compared */

typedef struct MillraceNearest
{
	char	   *name;
	int			distance;
} MillraceNearest;

/* Orders by distance, then by name */
static int
millrace_nearest_compare(const void *left, const void *right)
{
	const MillraceNearest *a = left;
	const MillraceNearest *b = right;

	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Edits between two names; letters of another case do not count */
static int
millrace_nearest_distance(const char *wanted, const char *name)
{
	char	   *left = asc_tolower(wanted, strlen(wanted));
	char	   *right = asc_tolower(name, strlen(name));
	int			distance = varstr_levenshtein(left, strlen(left), right, strlen(right), 1, 1, 1, true);

	pfree(left);
	pfree(right);
	return distance;
}

/*
 * Names within a third of the wanted name's length of edits, or two when that
 * is less and the name is not tiny; nearest first. NULL when there is none.
 */
PG_FUNCTION_INFO_V1(millrace_nearest_name);
Datum
millrace_nearest_name(PG_FUNCTION_ARGS)
{
	char	   *wanted = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int			tolerance = Max(strlen(wanted) > 3 ? 2 : 1, (int) strlen(wanted) / 3);
	Datum	   *names;
	bool	   *nulls;
	int			count;
	int			found = 0;
	MillraceNearest *nearest;
	StringInfoData list;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TEXTOID, -1, false, TYPALIGN_INT, &names, &nulls, &count);
	if (count == 0 || strlen(wanted) > MILLRACE_NEAREST_LENGTH)
		PG_RETURN_NULL();

	nearest = palloc(sizeof(MillraceNearest) * count);
	for (int i = 0; i < count; i++)
	{
		char	   *name = nulls[i] ? NULL : TextDatumGetCString(names[i]);

		if (name == NULL || strlen(name) > MILLRACE_NEAREST_LENGTH)
			continue;
		nearest[found].name = name;
		nearest[found].distance = millrace_nearest_distance(wanted, name);
		if (nearest[found].distance <= tolerance)
			found++;
	}
	if (found == 0)
		PG_RETURN_NULL();

	qsort(nearest, found, sizeof(MillraceNearest), millrace_nearest_compare);
	initStringInfo(&list);
	for (int i = 0; i < Min(found, MILLRACE_NEAREST_LIMIT); i++)
		appendStringInfo(&list, "%s%s", i == 0 ? "" : ", ", nearest[i].name);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(list.data, list.len));
}
