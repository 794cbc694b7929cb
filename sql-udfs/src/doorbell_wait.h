#ifndef MILLRACE_DOORBELL_WAIT_H
#define MILLRACE_DOORBELL_WAIT_H

typedef enum MillraceDoorbellResult
{
	MILLRACE_DOORBELL_LOOK,		/* rung, or the time is over: look at the slot */
	MILLRACE_DOORBELL_LOST		/* the gateway closed its end: it is gone */
} MillraceDoorbellResult;

extern bool millrace_doorbell_open(int64 deadline_nanos);
extern void millrace_doorbell_close(void);
extern bool millrace_doorbell_is_open(void);
extern uint32 millrace_doorbell_connection_id(void);
extern void millrace_doorbell_ring(void);
extern MillraceDoorbellResult millrace_doorbell_wait(int64 limit_nanos);

#endif							/* MILLRACE_DOORBELL_WAIT_H */
