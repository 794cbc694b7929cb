#ifndef MILLRACE_ROW_ERROR_H
#define MILLRACE_ROW_ERROR_H

#include "answer_decode.h"
#include "project_cache.h"

extern void millrace_row_error_init(void);
extern void millrace_row_error_note(const MillraceRowError *error);
extern void millrace_row_error_handle(const MillraceModel *model, const MillraceRowError *error);

#endif							/* MILLRACE_ROW_ERROR_H */
