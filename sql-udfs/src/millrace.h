#ifndef MILLRACE_H
#define MILLRACE_H

#include "postgres.h"

#include "fmgr.h"

/* Settings, each with MIN, DEFAULT and MAX in settings.h */
extern char *millrace_region_dir;
extern int	millrace_spin_us;
extern int	millrace_timeout_ms;
extern int	millrace_heartbeat_ms;
extern int	millrace_on_error;

#endif							/* MILLRACE_H */
