#include "postgres.h"

#include "fmgr.h"
#include "project_cache.h"
#include "request_wait.h"
#include "row_error.h"
#include "settings.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

/* Called once when a backend loads the library */
void
_PG_init(void)
{
	millrace_settings_define();
	millrace_request_init();
	millrace_cache_init();
	millrace_row_error_init();
}
