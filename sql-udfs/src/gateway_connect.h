#ifndef MILLRACE_GATEWAY_CONNECT_H
#define MILLRACE_GATEWAY_CONNECT_H

#include "postgres.h"

extern bool millrace_gateway_is_connected(void);
extern void millrace_gateway_connect(int64 deadline_nanos);
extern void millrace_gateway_disconnect(void);
extern void millrace_gateway_silent_error(void) pg_attribute_noreturn();
extern uint64 millrace_gateway_owner_start(void);
extern bool millrace_gateway_knows_descriptor(uint64 hash);
extern void millrace_gateway_note_descriptor(uint64 hash);

#endif							/* MILLRACE_GATEWAY_CONNECT_H */
