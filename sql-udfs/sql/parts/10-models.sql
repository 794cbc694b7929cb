-- Models and deployments.

-- The metric that orders the models of a task; larger is better. NaN and a missing metric count as none.
CREATE FUNCTION ml._score(task text, metrics jsonb) RETURNS float8 LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp
AS $$
	SELECT nullif(CASE WHEN jsonb_typeof(m.value) = 'number' THEN m.value::text::float8 END, 'NaN')
	FROM (SELECT CASE task WHEN 'classification' THEN metrics -> 'f1' ELSE metrics -> 'r2' END AS value) AS m
$$;

CREATE FUNCTION ml._list_models(caller ml.caller, project_name text)
	RETURNS TABLE (model_id bigint, project text, algorithm text, deployed boolean, metrics jsonb, uri text, sha256 text, bytes bigint,
		format text, snapshot_id bigint, created_at timestamptz)
	LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF project_name IS NOT NULL THEN
		PERFORM ml._project(caller, project_name);
	END IF;
	RETURN QUERY
	SELECT m.model_id, p.name, m.algorithm, m.model_id IS NOT DISTINCT FROM ml._deployed_model(p.project_id), m.metrics, m.uri, m.sha256,
		m.bytes, m.format, m.snapshot_id, m.created_at
	FROM ml.models m JOIN ml.projects p USING (project_id)
	WHERE (project_name IS NULL OR p.name = project_name) AND ml._may(caller, p.owner)
	ORDER BY m.model_id;
END
$$;

CREATE FUNCTION ml.list_models(project_name text DEFAULT NULL)
	RETURNS TABLE (model_id bigint, project text, algorithm text, deployed boolean, metrics jsonb, uri text, sha256 text, bytes bigint,
		format text, snapshot_id bigint, created_at timestamptz)
	LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT * FROM ml._list_models(ml.caller(), project_name);
END;

COMMENT ON FUNCTION ml.list_models(text) IS
	'The models of a project, or of all the caller''s projects, with their metrics on the test split and where the package is kept.';

-- Asks the gateway to load, verify and warm a model. Raises when any of it fails.
CREATE FUNCTION ml._load_model(model_id bigint) RETURNS void
	AS 'MODULE_PATHNAME', 'millrace_load_model' LANGUAGE C STRICT VOLATILE;

CREATE FUNCTION ml._deploy_model(caller ml.caller, project ml.projects, chosen ml.models, how text)
	RETURNS TABLE (project_name text, strategy text, algorithm text, model_id bigint)
	LANGUAGE plpgsql SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	-- One deployment of a project at a time: the next one must see this one's row.
	PERFORM FROM ml.projects p WHERE p.project_id = project.project_id FOR NO KEY UPDATE;
	PERFORM ml._load_model(chosen.model_id);
	INSERT INTO ml.deployments (project_id, model_id, strategy, deployed_by)
	VALUES (project.project_id, chosen.model_id, how, ml._role_name(caller));
	RETURN QUERY SELECT project.name, how, chosen.algorithm, chosen.model_id;
END
$$;

-- A model of a project the caller may use.
CREATE FUNCTION ml._model(caller ml.caller, wanted_id bigint) RETURNS ml.models LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	chosen ml.models;
	owning ml.projects;
BEGIN
	SELECT m.* INTO chosen FROM ml.models m WHERE m.model_id = wanted_id;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'model % does not exist', coalesce(wanted_id::text, 'NULL') USING
			ERRCODE = 'undefined_object', HINT = 'ml.list_models() lists them.';
	END IF;
	SELECT p.* INTO owning FROM ml.projects p WHERE p.project_id = chosen.project_id;
	IF NOT ml._may(caller, owning.owner) THEN
		RAISE EXCEPTION 'permission denied for model %', wanted_id USING
			ERRCODE = 'insufficient_privilege', DETAIL = format('Project "%s" belongs to role "%s".', owning.name, owning.owner);
	END IF;
	RETURN chosen;
END
$$;

CREATE FUNCTION ml._deploy(caller ml.caller, wanted_id bigint)
	RETURNS TABLE (project text, strategy text, algorithm text, model_id bigint)
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	chosen ml.models := ml._model(caller, wanted_id);
	owning ml.projects;
BEGIN
	SELECT p.* INTO owning FROM ml.projects p WHERE p.project_id = chosen.project_id;
	RETURN QUERY SELECT * FROM ml._deploy_model(caller, owning, chosen, 'specific');
END
$$;

CREATE FUNCTION ml.deploy(model_id bigint) RETURNS TABLE (project text, strategy text, algorithm text, model_id bigint)
	LANGUAGE sql VOLATILE
AS $$
	SELECT * FROM ml._deploy(ml.caller(), $1)
$$;

COMMENT ON FUNCTION ml.deploy(bigint) IS
	'Loads a model in the gateway, verifies and warms it, and makes it the one that predicts for its project from COMMIT on. Changes nothing when it cannot be loaded.';

-- The model in force before the present one. A rollback undoes the latest deployment, the next rollback the one before.
CREATE FUNCTION ml._rollback_target(project_id bigint) RETURNS bigint LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	deployment record;
	history bigint[] := '{}';
BEGIN
	FOR deployment IN
		SELECT d.model_id, d.strategy FROM ml.deployments d
		WHERE d.project_id = _rollback_target.project_id ORDER BY d.deployment_id
	LOOP
		IF deployment.strategy = 'rollback' THEN
			history := trim_array(history, least(1, cardinality(history)));
		END IF;
		IF cardinality(history) = 0 OR history[cardinality(history)] <> deployment.model_id THEN
			history := history || deployment.model_id;
		END IF;
	END LOOP;
	RETURN history[cardinality(history) - 1];
END
$$;

CREATE FUNCTION ml._choose_model(project ml.projects, how text, algorithm_name text) RETURNS ml.models LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	chosen ml.models;
	canonical text := CASE WHEN algorithm_name IS NOT NULL THEN ml._check_algorithm(algorithm_name, project.task) END;
BEGIN
	SELECT m.* INTO chosen FROM ml.models m
	WHERE m.project_id = project.project_id AND (canonical IS NULL OR m.algorithm = canonical)
		AND (how <> 'rollback' OR m.model_id = ml._rollback_target(project.project_id))
	ORDER BY CASE how WHEN 'best_score' THEN ml._score(m.task, m.metrics) END DESC NULLS LAST, m.model_id DESC
	LIMIT 1;
	IF NOT FOUND AND how = 'rollback' THEN
		RAISE EXCEPTION 'project "%" has no earlier deployment to roll back to', project.name USING
			ERRCODE = 'object_not_in_prerequisite_state';
	ELSIF NOT FOUND THEN
		RAISE EXCEPTION 'project "%" has no model%', project.name, CASE WHEN canonical IS NULL THEN '' ELSE format(' of algorithm "%s"', canonical) END USING
			ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Train one with ml.train().';
	END IF;
	RETURN chosen;
END
$$;

CREATE FUNCTION ml._deploy_project(caller ml.caller, project_name text, how text, algorithm_name text)
	RETURNS TABLE (project text, strategy text, algorithm text, model_id bigint)
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	owning ml.projects := ml._project(caller, project_name);
BEGIN
	IF how IS NULL OR lower(how) NOT IN ('best_score', 'most_recent', 'rollback') THEN
		RAISE EXCEPTION 'strategy "%" is not supported', how USING
			ERRCODE = 'invalid_parameter_value',
			HINT = 'Valid strategies: best_score, most_recent, rollback. A model id deploys that model.';
	END IF;
	RETURN QUERY SELECT * FROM ml._deploy_model(caller, owning, ml._choose_model(owning, lower(how), algorithm_name), lower(how));
END
$$;

CREATE FUNCTION ml.deploy(project_name text, strategy text DEFAULT 'best_score', algorithm text DEFAULT NULL)
	RETURNS TABLE (project text, strategy text, algorithm text, model_id bigint)
	LANGUAGE sql VOLATILE
AS $$
	SELECT * FROM ml._deploy_project(ml.caller(), $1, $2, $3)
$$;

COMMENT ON FUNCTION ml.deploy(text, text, text) IS
	'Deploys the best model of a project (f1 of a classification, r2 of a regression), the most recent one, or with rollback the one that was deployed before. algorithm narrows the choice.';

-- A deployment reaches every session with the commit that makes it: the sessions' caches hang on these tables.
CREATE FUNCTION ml._invalidate_cache() RETURNS trigger
	AS 'MODULE_PATHNAME', 'millrace_invalidate_cache' LANGUAGE C;

CREATE TRIGGER invalidate_cache AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON ml.deployments
	FOR EACH STATEMENT EXECUTE FUNCTION ml._invalidate_cache();
CREATE TRIGGER invalidate_cache AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON ml.projects
	FOR EACH STATEMENT EXECUTE FUNCTION ml._invalidate_cache();
CREATE TRIGGER invalidate_cache AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON ml.tasks
	FOR EACH STATEMENT EXECUTE FUNCTION ml._invalidate_cache();
CREATE TRIGGER invalidate_cache AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON ml.limits
	FOR EACH STATEMENT EXECUTE FUNCTION ml._invalidate_cache();
CREATE TRIGGER invalidate_cache AFTER UPDATE OR DELETE OR TRUNCATE ON ml.models
	FOR EACH STATEMENT EXECUTE FUNCTION ml._invalidate_cache();
