#ifndef MILLRACE_ERROR_RAISE_H
#define MILLRACE_ERROR_RAISE_H

#include "postgres.h"

extern int	millrace_error_sqlstate(uint32 code);
extern void millrace_error_raise(uint32 code, const char *message, const char *hint) pg_attribute_noreturn();
extern void millrace_error_malformed(const char *detail) pg_attribute_noreturn();

#endif							/* MILLRACE_ERROR_RAISE_H */
