#ifndef MILLRACE_PROJECT_CACHE_H
#define MILLRACE_PROJECT_CACHE_H

#include "postgres.h"

#include "settings.h"

/* The model that answers, as this backend's tables say under its snapshot */
typedef struct MillraceModel
{
	uint64		key;			/* first 8 bytes of the SHA-256 of its manifest */
	int64		model_id;
	bool		provisional;	/* serves the present snapshot only: look it up again for the next */
	bool		on_error_set;	/* the project has its own on_error */
	MillraceOnError on_error;
	uint64		tenant_key;		/* the project, among those of all databases */
	uint64		limits;			/* names the limits of the project; 0 = it has none */
	uint32		reference_length;
	char	   *reference;		/* JSON in UTF-8: where the gateway finds the package, and the limits */
} MillraceModel;

/* What names a model: a project, or the model itself */
typedef struct MillraceModelName
{
	const char *project;		/* NULL for a model id */
	int			project_length;
	int64		model_id;
} MillraceModelName;

extern void millrace_cache_init(void);
extern uint64 millrace_cache_generation(void);
extern bool millrace_cache_serves(const MillraceModel *model);
extern MillraceModel *millrace_cache_lookup(const MillraceModelName *name);
extern MillraceModel *millrace_model_copy(const MillraceModel *model);

#endif							/* MILLRACE_PROJECT_CACHE_H */
