#ifndef MILLRACE_WORD_SLEEP_H
#define MILLRACE_WORD_SLEEP_H

#include <stdatomic.h>
#include <stdint.h>

extern void millrace_word_sleep(_Atomic uint32_t *word, int64 limit_nanos);
extern void millrace_word_wake(_Atomic uint32_t *word);

#endif							/* MILLRACE_WORD_SLEEP_H */
