#ifndef MILLRACE_TRACE_CONTEXT_H
#define MILLRACE_TRACE_CONTEXT_H

#include "postgres.h"

#include "slot_layout.h"
#include "utils/guc.h"

extern bool millrace_trace_check(char **value, void **extra, GucSource source);
extern void millrace_trace_assign(const char *value, void *extra);
extern void millrace_trace_write(MillraceSlotLine *line, uint64 seed);

#endif							/* MILLRACE_TRACE_CONTEXT_H */
