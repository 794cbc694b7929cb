#include "postgres.h"

#include "settings.h"
#include "trace_context.h"
#include "utils/guc.h"

char	   *millrace_region_dir;
char	   *millrace_traceparent;
int			millrace_spin_us;
int			millrace_timeout_ms;
int			millrace_heartbeat_ms;
int			millrace_restart_wait_ms;
int			millrace_on_error;

static const struct config_enum_entry on_error_options[] = {
	{"abort", MILLRACE_ON_ERROR_ABORT, false},
	{"null", MILLRACE_ON_ERROR_NULL, false},
	{NULL, 0, false}
};

/* Defines the settings of schema ml */
void
millrace_settings_define(void)
{
	DefineCustomStringVariable("ml.region_dir",
							   "Directory of the shared-memory region that the gateway serves.",
							   NULL,
							   &millrace_region_dir, MILLRACE_REGION_DIR_DEFAULT,
							   PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("ml.spin_us",
							"Microseconds to look for an answer before sleeping.",
							"More helps a lone session on an idle machine and costs everybody else.",
							&millrace_spin_us,
							MILLRACE_SPIN_US_DEFAULT, MILLRACE_SPIN_US_MIN, MILLRACE_SPIN_US_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("ml.timeout_ms",
							"Longest time to wait for the gateway, including for a free slot.",
							"statement_timeout and a cancel request end the wait earlier.",
							&millrace_timeout_ms,
							MILLRACE_TIMEOUT_MS_DEFAULT, MILLRACE_TIMEOUT_MS_MIN, MILLRACE_TIMEOUT_MS_MAX,
							PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("ml.heartbeat_ms",
							"Age of the gateway's heartbeat above which it counts as stopped.",
							"0 takes the limit that the gateway publishes.",
							&millrace_heartbeat_ms,
							MILLRACE_HEARTBEAT_MS_DEFAULT, MILLRACE_HEARTBEAT_MS_MIN, MILLRACE_HEARTBEAT_MS_MAX,
							PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("ml.restart_wait_ms",
							"Longest time to wait for a gateway that is not there, within ml.timeout_ms.",
							"0 fails at once. With 30 seconds sessions outlast a restart of the gateway.",
							&millrace_restart_wait_ms,
							MILLRACE_RESTART_WAIT_MS_DEFAULT, MILLRACE_RESTART_WAIT_MS_MIN, MILLRACE_RESTART_WAIT_MS_MAX,
							PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomEnumVariable("ml.on_error",
							 "What a prediction does with a row that cannot be scored: abort the statement or answer NULL.",
							 "NULL answers are counted in one warning per statement. Option on_error of a task, then of a project, goes first.",
							 &millrace_on_error, MILLRACE_ON_ERROR_ABORT, on_error_options,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("ml.traceparent",
							   "Trace that the requests to the gateway are part of, as the header of W3C Trace Context has it.",
							   "00-<trace id>-<id of the caller's span>-<flags>. Empty: each request has a trace of its own.",
							   &millrace_traceparent, "",
							   PGC_USERSET, 0, millrace_trace_check, millrace_trace_assign, NULL);
	MarkGUCPrefixReserved("ml");
}
