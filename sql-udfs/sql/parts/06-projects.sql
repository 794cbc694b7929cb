-- Projects and their tasks.

CREATE FUNCTION ml._create_project(caller ml.caller, name text, task text, description text, options jsonb) RETURNS ml.projects
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	project ml.projects;
BEGIN
	PERFORM ml._check_name(_create_project.name);
	INSERT INTO ml.projects AS p (name, task, owner, description, options)
	VALUES (_create_project.name, ml._check_task(_create_project.task), ml._role_name(caller),
		_create_project.description, ml._check_options(_create_project.options))
	ON CONFLICT (name) DO NOTHING
	RETURNING p.* INTO project;
	IF project.project_id IS NULL THEN
		SELECT p.* INTO project FROM ml.projects p WHERE p.name = _create_project.name;
		RAISE EXCEPTION 'project "%" already exists', _create_project.name USING
			ERRCODE = 'duplicate_object', DETAIL = format('Its task is %s.', project.task);
	END IF;
	RETURN project;
END
$$;

CREATE FUNCTION ml.create_project(name text, task text, description text DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS bigint
	LANGUAGE sql VOLATILE
BEGIN ATOMIC
	SELECT p.project_id FROM ml._create_project(ml.caller(), name, task, description, options) AS p;
END;

COMMENT ON FUNCTION ml.create_project(text, text, text, jsonb) IS
	'Makes a project that belongs to the caller and returns its id. task: classification or regression. options: {"on_error": "abort" | "null"}, what a prediction does with a row it cannot score.';

CREATE FUNCTION ml._drop_project(caller ml.caller, name text, if_exists boolean) RETURNS boolean
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	project ml.projects;
	relation_name text;
	busy text;
BEGIN
	IF if_exists AND NOT EXISTS (SELECT FROM ml.projects p WHERE p.name = _drop_project.name) THEN
		RAISE NOTICE 'project "%" does not exist, skipping', _drop_project.name;
		RETURN false;
	END IF;
	project := ml._project(caller, _drop_project.name);
	-- The rows are locked against the dispatcher, so a queued run cannot be claimed meanwhile.
	PERFORM FROM ml.runs r WHERE r.project_id = project.project_id FOR UPDATE;
	SELECT string_agg(r.run_id::text, ', ' ORDER BY r.run_id) INTO busy
	FROM ml.runs r
	WHERE r.project_id = project.project_id AND r.status NOT IN ('queued', 'succeeded', 'failed', 'cancelled');
	IF busy IS NOT NULL THEN
		RAISE EXCEPTION 'project "%" has runs in progress: %', _drop_project.name, busy USING
			ERRCODE = 'object_in_use', HINT = 'Cancel them with ml.cancel_run() and wait with ml.wait_run().';
	END IF;
	-- Snapshots in the making that ml.train() asked for, known by the time of its transaction, serve nobody any more.
	UPDATE ml.snapshots s SET status = 'failed', error = 'the project was dropped before the snapshot was made'
	WHERE s.status IN ('requested', 'loading', 'fitting')
		AND EXISTS (SELECT FROM ml.runs r
			WHERE r.snapshot_id = s.snapshot_id AND r.project_id = project.project_id AND r.queued_at = s.created_at)
		AND NOT EXISTS (SELECT FROM ml.runs r WHERE r.snapshot_id = s.snapshot_id AND r.project_id <> project.project_id);
	DELETE FROM ml.tasks t WHERE t.project_id = project.project_id RETURNING t.relation INTO relation_name;
	DELETE FROM ml.projects p WHERE p.project_id = project.project_id;
	IF relation_name IS NOT NULL THEN
		PERFORM ml._release_unused(relation_name);
	END IF;
	RETURN true;
END
$$;

CREATE FUNCTION ml.drop_project(name text, if_exists boolean DEFAULT false) RETURNS boolean LANGUAGE sql VOLATILE
BEGIN ATOMIC
	SELECT ml._drop_project(ml.caller(), name, if_exists);
END;

COMMENT ON FUNCTION ml.drop_project(text, boolean) IS
	'Removes a project with its task, runs, models and deployments, and releases its table when no other project uses it. Refused while a run is in progress. Snapshots stay.';

-- The deployment in force of a project; no row when nothing is deployed.
CREATE FUNCTION ml._deployed_model(project_id bigint) RETURNS bigint LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	SELECT d.model_id FROM ml.deployments d
	WHERE d.project_id = _deployed_model.project_id ORDER BY d.deployment_id DESC LIMIT 1
$$;

CREATE FUNCTION ml._list_projects(caller ml.caller, name_like text)
	RETURNS TABLE (project_id bigint, name text, task text, owner name, models bigint, deployed_model_id bigint, created_at timestamptz)
	LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
	SELECT p.project_id, p.name, p.task, p.owner,
		(SELECT count(*) FROM ml.models m WHERE m.project_id = p.project_id),
		ml._deployed_model(p.project_id), p.created_at
	FROM ml.projects p
	WHERE p.name LIKE coalesce(name_like, '%') AND ml._may(caller, p.owner)
	ORDER BY p.name
$$;

CREATE FUNCTION ml.list_projects(name_like text DEFAULT '%')
	RETURNS TABLE (project_id bigint, name text, task text, owner name, models bigint, deployed_model_id bigint, created_at timestamptz)
	LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT * FROM ml._list_projects(ml.caller(), name_like);
END;

COMMENT ON FUNCTION ml.list_projects(text) IS
	'The projects the caller may use, by name. name_like is a LIKE pattern.';

-- Writes the task of a project after every check; the table that was used before is released when nobody needs it.
CREATE FUNCTION ml._write_task(caller ml.caller, project ml.projects, relation regclass, y_column_name text, features text[],
	key_columns text[], time_column text, options jsonb) RETURNS ml.tasks
	LANGUAGE plpgsql SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	canonical text := ml._check_relation(caller, _write_task.relation);
	keys text[];
	prior_relation text;
	task ml.tasks;
BEGIN
	PERFORM ml._check_types(_write_task.relation);
	PERFORM ml._check_label(_write_task.relation, _write_task.y_column_name, project.task);
	keys := ml._check_key(_write_task.relation, _write_task.key_columns);
	IF _write_task.y_column_name = ANY (keys) THEN
		RAISE EXCEPTION 'label column "%" is part of the key', _write_task.y_column_name USING ERRCODE = 'invalid_parameter_value';
	END IF;
	PERFORM ml._check_features(_write_task.relation, _write_task.features, _write_task.y_column_name, keys);
	IF _write_task.time_column IS NOT NULL THEN
		PERFORM ml._check_column(_write_task.relation, _write_task.time_column, 'time column');
		IF NOT EXISTS (SELECT FROM ml._columns(_write_task.relation) c WHERE c.name = _write_task.time_column AND c.category = 'time') THEN
			RAISE EXCEPTION 'time column "%" is not a date or a timestamp', _write_task.time_column USING ERRCODE = 'datatype_mismatch';
		END IF;
	END IF;
	SELECT t.relation INTO prior_relation FROM ml.tasks t WHERE t.project_id = project.project_id;
	INSERT INTO ml.tasks AS t (project_id, relation, y_column_name, features, key_columns, time_column, options)
	VALUES (project.project_id, canonical, _write_task.y_column_name, _write_task.features, keys, _write_task.time_column,
		ml._check_options(_write_task.options))
	ON CONFLICT (project_id) DO UPDATE SET relation = excluded.relation, y_column_name = excluded.y_column_name,
		features = excluded.features, key_columns = excluded.key_columns, time_column = excluded.time_column,
		options = excluded.options, created_at = now()
	RETURNING t.* INTO task;
	IF prior_relation <> canonical THEN
		PERFORM ml._release_unused(prior_relation);
	END IF;
	RETURN task;
END
$$;

CREATE FUNCTION ml._define_task(caller ml.caller, project_name text, relation_name regclass, y_column_name text, features text[],
	key_columns text[], time_column text, options jsonb) RETURNS bigint
	LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
	SELECT t.project_id FROM ml._write_task(caller, ml._project(caller, project_name), relation_name, y_column_name, features,
		key_columns, time_column, options) AS t
$$;

CREATE FUNCTION ml.define_task(project_name text, relation_name regclass, y_column_name text, features text[] DEFAULT NULL,
	key_columns text[] DEFAULT NULL, time_column text DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS bigint
	LANGUAGE sql VOLATILE
BEGIN ATOMIC
	SELECT ml._define_task(ml.caller(), project_name, relation_name, y_column_name, features, key_columns, time_column, options);
END;

COMMENT ON FUNCTION ml.define_task(text, regclass, text, text[], text[], text, jsonb) IS
	'Says what a project learns: the label y_column_name of a table from its features (NULL: all columns but the key and the label). key_columns default to the primary key. options: {"on_error": "abort" | "null"} goes before that of the project. Returns the project id. Defining again replaces the definition.';

CREATE FUNCTION ml._describe_task(caller ml.caller, project_name text)
	RETURNS TABLE (ordinal int, column_name text, role text, pg_type text, nullable boolean, preprocess jsonb)
	LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	task ml.tasks := ml._task(ml._project(caller, _describe_task.project_name));
	preprocess jsonb;
BEGIN
	SELECT s.preprocess INTO preprocess FROM ml.snapshots s
	WHERE s.relation = task.relation AND s.y_column_name = task.y_column_name ORDER BY s.snapshot_id DESC LIMIT 1;
	RETURN QUERY
	SELECT c.ordinal, c.name,
		CASE
			WHEN c.name = task.y_column_name THEN 'label'
			WHEN c.name = ANY (task.key_columns) THEN 'key'
			WHEN task.features IS NULL OR c.name = ANY (task.features) THEN 'feature'
			WHEN c.name = task.time_column THEN 'time'
			ELSE 'ignored'
		END,
		c.pg_type, c.nullable, coalesce(preprocess -> c.name, '{}')
	FROM ml._columns(ml._relation_id(task.relation)) c
	ORDER BY c.ordinal;
END
$$;

-- The task of a project; errors when none is defined.
CREATE FUNCTION ml._task(project ml.projects) RETURNS ml.tasks LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	task ml.tasks;
BEGIN
	SELECT t.* INTO task FROM ml.tasks t WHERE t.project_id = project.project_id;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'project "%" has no task', project.name USING
			ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Define it with ml.define_task(), or name the table and the label.';
	END IF;
	RETURN task;
END
$$;

CREATE FUNCTION ml.describe_task(project_name text)
	RETURNS TABLE (ordinal int, column_name text, role text, pg_type text, nullable boolean, preprocess jsonb)
	LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT * FROM ml._describe_task(ml.caller(), project_name);
END;

COMMENT ON FUNCTION ml.describe_task(text) IS
	'The columns of a project''s table with their role: key, label, feature, time or ignored; and the preprocessing asked for in the latest snapshot.';

-- What a project may ask of the gateway. The table is changed with INSERT, UPDATE and DELETE by who owns the project.
COMMENT ON TABLE ml.limits IS 'What a project may ask of the gateway; changed with INSERT, UPDATE and DELETE by its owner or ml_admin';
COMMENT ON COLUMN ml.limits.requests_per_second IS 'as many at once after a second of rest; NULL: no limit';
COMMENT ON COLUMN ml.limits.rows_per_second IS 'the same for rows; a larger request passes alone and is paid off by those after it';
COMMENT ON COLUMN ml.limits.concurrent_requests IS 'requests in the gateway at a time; NULL: no limit';
COMMENT ON COLUMN ml.limits.on_limit IS 'what happens above a limit: reject (SQLSTATE 53400), or wait for its turn until ml.timeout_ms';
COMMENT ON COLUMN ml.limits.merge_window_us IS 'no limit: how long a request may wait for others while a batch of its model runs, in microseconds; NULL: merge-window-micros of the gateway';

CREATE FUNCTION ml._may_limit(caller ml.caller, wanted_id bigint) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
	SET search_path = pg_catalog, ml, pg_temp
AS $$
	SELECT EXISTS (SELECT FROM ml.projects p WHERE p.project_id = wanted_id AND ml._may(caller, p.owner))
$$;

ALTER TABLE ml.limits ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_projects ON ml.limits USING (ml._may_limit(ml.caller(), project_id)) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON ml.limits TO ml_user;

-- Raises for limits that are none, and for a project of somebody else.
CREATE FUNCTION ml._check_limits(caller ml.caller, limits ml.limits) RETURNS void
	LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	project ml.projects;
	item record;
BEGIN
	SELECT p.* INTO project FROM ml.projects p WHERE p.project_id = limits.project_id;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'project with id % does not exist', coalesce(limits.project_id::text, 'NULL') USING
			ERRCODE = 'undefined_object', HINT = 'ml.list_projects() lists the projects with their ids.';
	END IF;
	PERFORM ml._project(caller, project.name);
	FOR item IN SELECT l.key, l.value FROM jsonb_each(jsonb_strip_nulls(to_jsonb(limits))) l ORDER BY l.key LOOP
		IF item.key = 'on_limit' THEN
			PERFORM ml._check_setting(format('on_limit of project "%s"', project.name), item.value, 'choice', NULL, NULL, NULL, ARRAY['reject', 'wait']);
		ELSIF item.key = 'merge_window_us' THEN
			PERFORM ml._check_setting(format('%s of project "%s"', item.key, project.name), item.value, 'integer', 0, false, 100000, NULL);
		ELSIF item.key <> 'project_id' THEN
			PERFORM ml._check_setting(format('%s of project "%s"', item.key, project.name), item.value, 'integer', 1, false, 10000000, NULL);
		END IF;
	END LOOP;
END
$$;

CREATE FUNCTION ml._check_limits_row() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	PERFORM ml._check_limits(ml.caller(), NEW);
	RETURN NEW;
END
$$;

CREATE TRIGGER check_limits BEFORE INSERT OR UPDATE ON ml.limits FOR EACH ROW EXECUTE FUNCTION ml._check_limits_row();
