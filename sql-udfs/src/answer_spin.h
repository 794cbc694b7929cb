#ifndef MILLRACE_ANSWER_SPIN_H
#define MILLRACE_ANSWER_SPIN_H

#include "postgres.h"

extern bool millrace_answer_spin(int slot, uint64_t word);

#endif
