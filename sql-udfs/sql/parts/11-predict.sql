-- Predictions. The C functions find the model with the functions below, once per session and deployment.

-- What a row that cannot be scored does: as the task says, or else the project; NULL leaves it to the session.
CREATE FUNCTION ml._on_error(project ml.projects) RETURNS text LANGUAGE sql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
	SELECT coalesce((SELECT t.options ->> 'on_error' FROM ml.tasks t WHERE t.project_id = project.project_id),
		project.options ->> 'on_error')
$$;

-- The limits of a project, one row; on_limit is never NULL. The C code takes NULL for no limit.
CREATE FUNCTION ml._limits(wanted_id bigint)
	RETURNS TABLE (project_id bigint, requests_per_second bigint, rows_per_second bigint, concurrent_requests bigint, on_limit text, merge_window_us bigint, version text)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT wanted_id, l.requests_per_second, l.rows_per_second, l.concurrent_requests, coalesce(l.on_limit, 'reject'), l.merge_window_us, coalesce(l.xmin::text, '-')
	FROM (VALUES (1)) AS one_row LEFT JOIN ml.limits l ON l.project_id = wanted_id
$$;

-- The model that predicts for a project; token changes with whatever the answer depends on.
CREATE FUNCTION ml._resolve_project(caller ml.caller, project_name text)
	RETURNS TABLE (project text, on_error text, model_id bigint, uri text, sha256 text, bytes bigint, project_id bigint,
		requests_per_second bigint, rows_per_second bigint, concurrent_requests bigint, on_limit text, merge_window_us bigint, token text)
	LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	owning ml.projects := ml._project(caller, project_name);
	deployed_id bigint := ml._deployed_model(owning.project_id);
BEGIN
	IF deployed_id IS NULL THEN
		RAISE EXCEPTION 'project "%" has no deployed model', project_name USING
			ERRCODE = 'object_not_in_prerequisite_state',
			HINT = CASE WHEN EXISTS (SELECT FROM ml.models m WHERE m.project_id = owning.project_id)
				THEN 'Deploy one with ml.deploy().'
				ELSE 'Train one with ml.train() and follow it with ml.run_status().' END;
	END IF;
	RETURN QUERY
	SELECT owning.name, ml._on_error(owning), m.model_id, m.uri, m.sha256, m.bytes, l.project_id,
		l.requests_per_second, l.rows_per_second, l.concurrent_requests, l.on_limit, l.merge_window_us, ml._project_token(project_name)
	FROM ml.models m, ml._limits(owning.project_id) l WHERE m.model_id = deployed_id;
END
$$;

CREATE FUNCTION ml._project_token(project_name text) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
	SET search_path = pg_catalog, ml, pg_temp
AS $$
	SELECT p.xmin || ' ' || coalesce((SELECT t.xmin::text FROM ml.tasks t WHERE t.project_id = p.project_id), '-')
		|| ' ' || (SELECT l.version FROM ml._limits(p.project_id) l)
		|| ' ' || (SELECT max(d.deployment_id) FROM ml.deployments d WHERE d.project_id = p.project_id) || ' ' || m.xmin
	FROM ml.projects p JOIN ml.models m ON m.model_id = ml._deployed_model(p.project_id)
	WHERE p.name = project_name
$$;

-- A model by its id, deployed or not.
CREATE FUNCTION ml._resolve_model(caller ml.caller, wanted_id bigint)
	RETURNS TABLE (project text, on_error text, model_id bigint, uri text, sha256 text, bytes bigint, project_id bigint,
		requests_per_second bigint, rows_per_second bigint, concurrent_requests bigint, on_limit text, merge_window_us bigint, token text)
	LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	chosen ml.models := ml._model(caller, wanted_id);
	owning ml.projects;
BEGIN
	SELECT p.* INTO owning FROM ml.projects p WHERE p.project_id = chosen.project_id;
	RETURN QUERY
	SELECT owning.name, ml._on_error(owning), chosen.model_id, chosen.uri, chosen.sha256, chosen.bytes, l.project_id,
		l.requests_per_second, l.rows_per_second, l.concurrent_requests, l.on_limit, l.merge_window_us, ml._model_token(wanted_id)
	FROM ml._limits(owning.project_id) l;
END
$$;

CREATE FUNCTION ml._model_token(wanted_id bigint) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
	SET search_path = pg_catalog, ml, pg_temp
AS $$
	SELECT p.xmin || ' ' || coalesce((SELECT t.xmin::text FROM ml.tasks t WHERE t.project_id = p.project_id), '-')
		|| ' ' || (SELECT l.version FROM ml._limits(p.project_id) l) || ' ' || m.xmin
	FROM ml.models m JOIN ml.projects p USING (project_id) WHERE m.model_id = wanted_id
$$;

CREATE FUNCTION ml.predict(project_name text, features double precision[]) RETURNS double precision
	AS 'MODULE_PATHNAME', 'millrace_predict_array' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;
CREATE FUNCTION ml.predict(project_name text, features record) RETURNS double precision
	AS 'MODULE_PATHNAME', 'millrace_predict_record' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;
CREATE FUNCTION ml.predict(project_name text, features jsonb) RETURNS double precision
	AS 'MODULE_PATHNAME', 'millrace_predict_jsonb' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;
CREATE FUNCTION ml.predict(model_id bigint, features double precision[]) RETURNS double precision
	AS 'MODULE_PATHNAME', 'millrace_predict_model_array' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;
CREATE FUNCTION ml.predict(model_id bigint, features record) RETURNS double precision
	AS 'MODULE_PATHNAME', 'millrace_predict_model_record' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;

COMMENT ON FUNCTION ml.predict(text, double precision[]) IS
	'Predicts with the deployed model of a project from features in the order of ml.describe_task(). Regression: the value. Two classes: the probability of the second one in sorted order (yes of no and yes). More classes: the index of the class, from 0; ml.predict_class() gives its name. NULL elements are missing values.';
COMMENT ON FUNCTION ml.predict(text, record) IS
	'Predicts from a row. Columns are found by name: a missing one is an error, others are ignored. The fields of ROW(..) have no names and are taken in order.';
COMMENT ON FUNCTION ml.predict(text, jsonb) IS
	'Predicts from a JSON object whose keys are the features, or from a JSON array of numbers in order. Dates and times are ISO 8601 texts.';
COMMENT ON FUNCTION ml.predict(bigint, double precision[]) IS
	'Predicts with one model, deployed or not, from features in order.';
COMMENT ON FUNCTION ml.predict(bigint, record) IS
	'Predicts with one model, deployed or not, from a row.';

CREATE FUNCTION ml.predict_proba(project_name text, features double precision[]) RETURNS double precision[]
	AS 'MODULE_PATHNAME', 'millrace_predict_proba_array' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;
CREATE FUNCTION ml.predict_proba(project_name text, features record) RETURNS double precision[]
	AS 'MODULE_PATHNAME', 'millrace_predict_proba_record' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;
CREATE FUNCTION ml.predict_class(project_name text, features anyelement) RETURNS text
	AS 'MODULE_PATHNAME', 'millrace_predict_class' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;

COMMENT ON FUNCTION ml.predict_proba(text, double precision[]) IS
	'The probability of every class in the sorted order of their names, from features in order. An error for a regression.';
COMMENT ON FUNCTION ml.predict_proba(text, record) IS
	'The probability of every class in the sorted order of their names, from a row. An error for a regression.';
COMMENT ON FUNCTION ml.predict_class(text, anyelement) IS
	'The name of the most probable class, from a row, an array of numbers, or jsonb. An error for a regression.';

CREATE FUNCTION ml.predict_batch(project_name text, features double precision[]) RETURNS SETOF double precision
	AS 'MODULE_PATHNAME', 'millrace_predict_batch_array' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 1000;
CREATE FUNCTION ml.predict_batch(project_name text, relation_name regclass, key_column text, batch_size int DEFAULT 1024)
	RETURNS TABLE (key text, prediction double precision, label text, proba double precision[])
	AS 'MODULE_PATHNAME', 'millrace_predict_batch_relation' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 1000;

COMMENT ON FUNCTION ml.predict_batch(text, double precision[]) IS
	'Predicts many rows at once: a two-dimensional array with one row of features each; a one-dimensional array is one row.';
COMMENT ON FUNCTION ml.predict_batch(text, regclass, text, int) IS
	'Predicts every row of a table the caller may read, streaming it in batches with several in flight. key is the text of key_column. A row that cannot be scored answers NULL; one warning counts them.';

CREATE FUNCTION ml.preprocess(project_name text, features record) RETURNS real[]
	AS 'MODULE_PATHNAME', 'millrace_preprocess' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;

COMMENT ON FUNCTION ml.preprocess(text, record) IS
	'The vector that the deployed model of a project sees for a row.';

CREATE FUNCTION ml._echo(payload bytea) RETURNS bytea
	AS 'MODULE_PATHNAME', 'millrace_echo' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED COST 10000;

COMMENT ON FUNCTION ml._echo(bytea) IS 'Sends bytes to the gateway and back; for tests and measurements.';
