-- Training runs: rows in a queue that the dispatcher works off.

-- The project to train: made when it is new, with the task it must have.
CREATE FUNCTION ml._train_project(caller ml.caller, project_name text, wanted_task text) RETURNS ml.projects
	LANGUAGE plpgsql SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	project ml.projects;
BEGIN
	PERFORM ml._check_name(project_name);
	IF NOT EXISTS (SELECT FROM ml.projects p WHERE p.name = project_name) THEN
		RETURN ml._create_project(caller, project_name, wanted_task, NULL, '{}');
	END IF;
	project := ml._project(caller, project_name);
	IF wanted_task IS NOT NULL AND ml._check_task(wanted_task) <> project.task THEN
		RAISE EXCEPTION 'project "%" has task %, not %', project_name, project.task, lower(wanted_task) USING
			ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Use another project name for another task.';
	END IF;
	RETURN project;
END
$$;

-- The task to train: the one defined, or a new definition when a table or a label is named that differs from it.
CREATE FUNCTION ml._train_task(caller ml.caller, project ml.projects, relation regclass, label_column text) RETURNS ml.tasks
	LANGUAGE plpgsql SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	task ml.tasks;
	relation_id oid := relation;
BEGIN
	SELECT t.* INTO task FROM ml.tasks t WHERE t.project_id = project.project_id;
	IF NOT FOUND AND (relation IS NULL OR label_column IS NULL) THEN
		RAISE EXCEPTION 'project "%" has no task: relation_name and y_column_name must be given', project.name USING
			ERRCODE = 'null_value_not_allowed';
	END IF;
	relation_id := coalesce(relation_id, ml._relation_id(task.relation));
	IF task.relation = ml._relation_name(relation_id) AND task.y_column_name = coalesce(label_column, task.y_column_name) THEN
		RETURN ml._write_task(caller, project, relation_id, task.y_column_name, task.features, task.key_columns, task.time_column, task.options);
	END IF;
	RETURN ml._write_task(caller, project, relation_id, coalesce(label_column, task.y_column_name), NULL, NULL, NULL, '{}');
END
$$;

-- The snapshot to train on: the one named, the latest that suits, or a new one.
CREATE FUNCTION ml._train_snapshot(caller ml.caller, task ml.tasks, test_size real, test_sampling text, preprocess jsonb,
	always_new boolean, named_id bigint) RETURNS ml.snapshots
	LANGUAGE plpgsql SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	relation_id oid := ml._relation_id(task.relation);
	snapshot ml.snapshots;
	checked jsonb := ml._check_preprocess(relation_id, preprocess,
		ml._feature_names(relation_id, task.features, task.y_column_name, task.key_columns));
BEGIN
	IF named_id IS NOT NULL THEN
		snapshot := ml._snapshot(caller, named_id);
		IF snapshot.relation <> task.relation OR snapshot.y_column_name <> task.y_column_name THEN
			RAISE EXCEPTION 'snapshot % does not suit the task', named_id USING
				ERRCODE = 'invalid_parameter_value',
				DETAIL = format('It is of %s with label "%s"; the task is %s with label "%s".',
					snapshot.relation, snapshot.y_column_name, task.relation, task.y_column_name);
		ELSIF snapshot.status IN ('failed', 'dropped') THEN
			RAISE EXCEPTION 'snapshot % is %', named_id, snapshot.status USING
				ERRCODE = 'object_not_in_prerequisite_state', DETAIL = coalesce(snapshot.error, 'No reason was given.'),
				HINT = 'Ask for a new one with ml.refresh_snapshot() or materialize_snapshot => true.';
		END IF;
		RETURN snapshot;
	END IF;
	IF NOT coalesce(always_new, false) AND ml._is_captured(relation_id, task.key_columns) THEN
		SELECT s.* INTO snapshot FROM ml.snapshots s
		WHERE s.relation = task.relation AND s.y_column_name = task.y_column_name AND s.key_columns = task.key_columns
			AND s.features IS NOT DISTINCT FROM task.features AND s.preprocess = checked
			AND s.status IN ('requested', 'loading', 'fitting', 'ready')
		ORDER BY s.snapshot_id DESC LIMIT 1;
		IF FOUND THEN
			RAISE NOTICE 'training on snapshot % of %', snapshot.snapshot_id, task.relation
				USING DETAIL = 'materialize_snapshot => true takes a new one of the rows as they are now.';
			RETURN snapshot;
		END IF;
	END IF;
	RETURN ml._request_snapshot(caller, relation_id, task.y_column_name, test_size, test_sampling, checked,
		task.key_columns, task.features, NULL);
END
$$;

-- Arguments of ml.train that this version accepts in one value only.
CREATE FUNCTION ml._check_train_arguments(search text, search_params jsonb, search_args jsonb, runtime text) RETURNS void
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, ml, pg_temp
AS $$
BEGIN
	IF search IS NOT NULL OR coalesce(search_params, '{}') <> '{}' OR coalesce(search_args, '{}') <> '{}' THEN
		RAISE EXCEPTION 'search over hyper-parameters is not available yet' USING
			ERRCODE = 'feature_not_supported', HINT = 'Leave search, search_params and search_args out.';
	ELSIF runtime IS NOT NULL AND lower(runtime) <> 'flink' THEN
		RAISE EXCEPTION 'runtime "%" is not supported', runtime USING
			ERRCODE = 'invalid_parameter_value', HINT = 'Valid runtimes: flink.';
	END IF;
END
$$;

CREATE FUNCTION ml._train(caller ml.caller, project_name text, wanted_task text, relation_name regclass, label_column text,
	algorithm_name text, hyperparams jsonb, search text, search_params jsonb, search_args jsonb, test_size real, test_sampling text,
	runtime text, automatic_deploy boolean, materialize_snapshot boolean, preprocess jsonb, named_snapshot_id bigint)
	RETURNS TABLE (project text, task text, algorithm text, deployed boolean, run_id bigint, status text)
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	trained ml.projects := ml._train_project(caller, project_name, wanted_task);
	sampling text := ml._check_split(_train.test_size, _train.test_sampling);
	canonical text := ml._check_algorithm(coalesce(algorithm_name, 'linear'), trained.task);
	checked jsonb := ml._check_hyperparams(canonical, trained.task, _train.hyperparams);
	defined ml.tasks;
	snapshot ml.snapshots;
BEGIN
	PERFORM ml._check_train_arguments(_train.search, _train.search_params, _train.search_args, _train.runtime);
	defined := ml._train_task(caller, trained, relation_name, label_column);
	-- A regression has no classes to stratify by.
	sampling := CASE WHEN trained.task = 'regression' AND sampling = 'stratified' THEN 'random' ELSE sampling END;
	snapshot := ml._train_snapshot(caller, defined, _train.test_size, sampling, _train.preprocess, materialize_snapshot, named_snapshot_id);
	RETURN QUERY
	INSERT INTO ml.runs AS r (project_id, snapshot_id, algorithm, task, objective, hyperparams, test_size, test_sampling, seed,
		automatic_deploy, preprocess, owner)
	VALUES (trained.project_id, snapshot.snapshot_id, canonical, trained.task, checked ->> 'objective',
		checked - 'objective' - 'seed', _train.test_size, sampling, coalesce((checked ->> 'seed')::numeric::bigint, 42),
		coalesce(_train.automatic_deploy, true), snapshot.preprocess, ml._role_name(caller))
	RETURNING trained.name, trained.task, r.algorithm, false, r.run_id, r.status;
END
$$;

CREATE FUNCTION ml.train(project_name text, task text DEFAULT NULL, relation_name regclass DEFAULT NULL, y_column_name text DEFAULT NULL,
	algorithm text DEFAULT 'linear', hyperparams jsonb DEFAULT '{}', search text DEFAULT NULL, search_params jsonb DEFAULT '{}',
	search_args jsonb DEFAULT '{}', test_size real DEFAULT 0.25, test_sampling text DEFAULT 'stratified', runtime text DEFAULT NULL,
	automatic_deploy boolean DEFAULT true, materialize_snapshot boolean DEFAULT false, preprocess jsonb DEFAULT '{}',
	snapshot_id bigint DEFAULT NULL)
	RETURNS TABLE (project text, task text, algorithm text, deployed boolean, run_id bigint, status text)
	LANGUAGE sql VOLATILE
AS $$
	SELECT * FROM ml._train(ml.caller(), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
$$;

COMMENT ON FUNCTION ml.train(text, text, regclass, text, text, jsonb, text, jsonb, jsonb, real, text, text, boolean, boolean, jsonb, bigint) IS
	'Queues a training run and returns its id at once; it starts after COMMIT. Makes the project and defines its task when they are new. Trains on the latest snapshot that suits, or on a new one with materialize_snapshot. A model that beats the deployed one on the same test rows is deployed by itself unless automatic_deploy is false. Hyper-parameters: ml.list_algorithms(). Follow the run with ml.run_status() or ml.wait_run().';

-- A run of a project the caller may use.
CREATE FUNCTION ml._run(caller ml.caller, run_id bigint) RETURNS ml.runs LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	run ml.runs;
	project_name text;
	project_owner name;
BEGIN
	SELECT r.* INTO run FROM ml.runs r WHERE r.run_id = _run.run_id;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'run % does not exist', coalesce(_run.run_id::text, 'NULL') USING
			ERRCODE = 'undefined_object', HINT = 'ml.run_status() lists the runs.';
	END IF;
	SELECT p.name, p.owner INTO project_name, project_owner FROM ml.projects p WHERE p.project_id = run.project_id;
	IF NOT ml._may(caller, project_owner) THEN
		RAISE EXCEPTION 'permission denied for run %', _run.run_id USING
			ERRCODE = 'insufficient_privilege', DETAIL = format('Project "%s" belongs to role "%s".', project_name, project_owner);
	END IF;
	RETURN run;
END
$$;

CREATE FUNCTION ml._run_status(caller ml.caller, wanted_id bigint, project_name text)
	RETURNS TABLE (run_id bigint, project text, algorithm text, status text, progress real, phase text, flink_job_id text, model_id bigint,
		metrics jsonb, error text, queued_at timestamptz, started_at timestamptz, finished_at timestamptz)
	LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	project ml.projects;
BEGIN
	IF wanted_id IS NOT NULL THEN
		PERFORM ml._run(caller, wanted_id);
	END IF;
	IF project_name IS NOT NULL THEN
		project := ml._project(caller, project_name);
	END IF;
	RETURN QUERY
	SELECT r.run_id, p.name, r.algorithm, r.status, r.progress, r.phase, r.flink_job_id, r.model_id,
		r.metrics, r.error, r.queued_at, r.started_at, r.finished_at
	FROM ml.runs r JOIN ml.projects p USING (project_id)
	WHERE (wanted_id IS NULL OR r.run_id = wanted_id) AND (project_name IS NULL OR p.name = project_name) AND ml._may(caller, p.owner)
	ORDER BY r.run_id;
END
$$;

CREATE FUNCTION ml.run_status(run_id bigint DEFAULT NULL, project_name text DEFAULT NULL)
	RETURNS TABLE (run_id bigint, project text, algorithm text, status text, progress real, phase text, flink_job_id text, model_id bigint,
		metrics jsonb, error text, queued_at timestamptz, started_at timestamptz, finished_at timestamptz)
	LANGUAGE sql STABLE
AS $$
	SELECT * FROM ml._run_status(ml.caller(), $1, $2)
$$;

COMMENT ON FUNCTION ml.run_status(bigint, text) IS
	'Runs of the caller''s projects, of one project, or one run: status, progress from 0 to 1, phase, metrics on the test split, error.';

CREATE FUNCTION ml._cancel_run(caller ml.caller, run_id bigint) RETURNS boolean
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	run ml.runs := ml._run(caller, _cancel_run.run_id);
BEGIN
	SELECT r.* INTO run FROM ml.runs r WHERE r.run_id = run.run_id FOR UPDATE;
	IF run.status IN ('succeeded', 'failed', 'cancelled') THEN
		RETURN false;
	END IF;
	UPDATE ml.runs r SET
		cancel_requested = true,
		status = CASE r.status WHEN 'queued' THEN 'cancelled' ELSE r.status END,
		finished_at = CASE r.status WHEN 'queued' THEN now() ELSE r.finished_at END
	WHERE r.run_id = run.run_id;
	RETURN true;
END
$$;

CREATE FUNCTION ml.cancel_run(run_id bigint) RETURNS boolean LANGUAGE sql VOLATILE
BEGIN ATOMIC
	SELECT ml._cancel_run(ml.caller(), run_id);
END;

COMMENT ON FUNCTION ml.cancel_run(bigint) IS
	'Asks for a run to end. Returns false when it has ended already. A queued run is cancelled at once, a running one within 2 seconds.';

-- Looks again after at most half a second: every statement of a volatile function has a fresh snapshot.
CREATE FUNCTION ml._wait_run(caller ml.caller, wanted_id bigint, timeout interval) RETURNS text
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	run ml.runs := ml._run(caller, wanted_id);
	deadline timestamptz := clock_timestamp() + coalesce(timeout, '10 minutes');
	pause double precision := 0.02;
BEGIN
	IF run.status NOT IN ('succeeded', 'failed', 'cancelled') AND current_setting('transaction_isolation') <> 'read committed' THEN
		RAISE EXCEPTION 'ml.wait_run() cannot see other transactions at isolation level %', current_setting('transaction_isolation') USING
			ERRCODE = 'invalid_transaction_state', HINT = 'Call it in a read committed transaction.';
	ELSIF EXISTS (SELECT FROM ml.runs r WHERE r.run_id = wanted_id AND ml._is_own_transaction(r.xmin)) THEN
		RAISE EXCEPTION 'run % is not committed yet', wanted_id USING
			ERRCODE = 'invalid_transaction_state', HINT = 'COMMIT first: a queued run is invisible to the dispatcher until then.';
	END IF;
	LOOP
		SELECT r.* INTO run FROM ml.runs r WHERE r.run_id = wanted_id;
		IF NOT FOUND OR run.status IN ('succeeded', 'failed', 'cancelled') OR clock_timestamp() >= deadline THEN
			RETURN run.status;
		END IF;
		PERFORM pg_sleep(least(pause, extract(epoch FROM deadline - clock_timestamp())));
		pause := least(pause * 1.5, 0.5);
	END LOOP;
END
$$;

CREATE FUNCTION ml.wait_run(run_id bigint, timeout interval DEFAULT '10 minutes') RETURNS text LANGUAGE sql VOLATILE
BEGIN ATOMIC
	SELECT ml._wait_run(ml.caller(), run_id, timeout);
END;

COMMENT ON FUNCTION ml.wait_run(bigint, interval) IS
	'Waits until a run has ended or the timeout has passed and returns its status then. Can be cancelled. For a transaction after the one that called ml.train().';
