#ifndef MILLRACE_SETTINGS_H
#define MILLRACE_SETTINGS_H

#define MILLRACE_REGION_DIR_DEFAULT "/dev/shm/millrace"

#define MILLRACE_SPIN_US_MIN 0
#define MILLRACE_SPIN_US_DEFAULT 5
#define MILLRACE_SPIN_US_MAX 100000

#define MILLRACE_TIMEOUT_MS_MIN 1
#define MILLRACE_TIMEOUT_MS_DEFAULT 30000
#define MILLRACE_TIMEOUT_MS_MAX 3600000

/* 0 takes the limit that the gateway publishes */
#define MILLRACE_HEARTBEAT_MS_MIN 0
#define MILLRACE_HEARTBEAT_MS_DEFAULT 0
#define MILLRACE_HEARTBEAT_MS_MAX 600000

/* 0 fails at once */
#define MILLRACE_RESTART_WAIT_MS_MIN 0
#define MILLRACE_RESTART_WAIT_MS_DEFAULT 0
#define MILLRACE_RESTART_WAIT_MS_MAX 3600000

typedef enum MillraceOnError
{
	MILLRACE_ON_ERROR_ABORT,
	MILLRACE_ON_ERROR_NULL
} MillraceOnError;

extern char *millrace_region_dir;
extern char *millrace_traceparent;
extern int	millrace_spin_us;
extern int	millrace_timeout_ms;
extern int	millrace_heartbeat_ms;
extern int	millrace_restart_wait_ms;
extern int	millrace_on_error;

extern void millrace_settings_define(void);

#endif							/* MILLRACE_SETTINGS_H */
