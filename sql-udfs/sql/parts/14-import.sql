-- Models from elsewhere. The gateway reads, tries and packs the file; the row here makes it a model of the project.

-- Asks the gateway for a package of a model file; the answer tells what the database remembers of it.
CREATE FUNCTION ml._ask_import(request text) RETURNS text
	AS 'MODULE_PATHNAME', 'millrace_import_model' LANGUAGE C STRICT VOLATILE;

CREATE FUNCTION ml._check_import_options(options jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	item record;
BEGIN
	IF options IS NULL THEN
		RETURN '{}';
	ELSIF jsonb_typeof(options) <> 'object' THEN
		RAISE EXCEPTION 'options must be a JSON object' USING
			ERRCODE = 'invalid_parameter_value', DETAIL = format('Got a JSON %s.', jsonb_typeof(options));
	END IF;
	FOR item IN SELECT key, value FROM jsonb_each(options) ORDER BY key LOOP
		IF item.key NOT IN ('features', 'labels', 'output', 'scores') THEN
			RAISE EXCEPTION 'option "%" is not known', item.key USING
				ERRCODE = 'invalid_parameter_value', HINT = 'Known options: features, labels, output, scores.';
		ELSIF item.key IN ('features', 'labels') AND (jsonb_typeof(item.value) <> 'array' OR item.value = '[]'
			OR EXISTS (SELECT FROM jsonb_array_elements(CASE jsonb_typeof(item.value) WHEN 'array' THEN item.value ELSE '[]' END) AS e
				WHERE jsonb_typeof(e) <> 'string')) THEN
			RAISE EXCEPTION 'option "%" must be a list of texts', item.key USING
				ERRCODE = 'invalid_parameter_value', DETAIL = format('Got %s.', left(item.value::text, 100));
		ELSIF item.key = 'output' AND jsonb_typeof(item.value) <> 'string' THEN
			RAISE EXCEPTION 'option "output" must be the name of an output' USING
				ERRCODE = 'invalid_parameter_value', DETAIL = format('Got %s.', left(item.value::text, 100));
		ELSIF item.key = 'scores' THEN
			PERFORM ml._check_setting('option "scores"', item.value, 'choice', NULL, NULL, NULL, ARRAY['probability', 'logit']);
		END IF;
	END LOOP;
	RETURN options;
END
$$;

-- The snapshot whose columns a model takes: the one named, or the latest of the project's task. A project without a task, and
-- features named in the options, mean plain numbers by position: NULL.
CREATE FUNCTION ml._import_snapshot(caller ml.caller, project ml.projects, named_id bigint, options jsonb) RETURNS ml.snapshots
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	task ml.tasks;
	snapshot ml.snapshots;
BEGIN
	IF named_id IS NOT NULL AND options ? 'features' THEN
		RAISE EXCEPTION 'features cannot be named for a model that takes those of a snapshot' USING
			ERRCODE = 'invalid_parameter_value', HINT = 'Leave out option "features", or the snapshot.';
	ELSIF options ? 'features' THEN
		RETURN NULL;
	END IF;
	SELECT t.* INTO task FROM ml.tasks t WHERE t.project_id = project.project_id;
	IF named_id IS NOT NULL THEN
		snapshot := ml._snapshot(caller, named_id);
		IF task.relation IS NOT NULL AND (snapshot.relation <> task.relation OR snapshot.y_column_name <> task.y_column_name) THEN
			RAISE EXCEPTION 'snapshot % does not suit the task', named_id USING
				ERRCODE = 'invalid_parameter_value',
				DETAIL = format('It is of %s with label "%s"; the task is %s with label "%s".',
					snapshot.relation, snapshot.y_column_name, task.relation, task.y_column_name);
		ELSIF snapshot.status <> 'ready' THEN
			RAISE EXCEPTION 'snapshot % is %', named_id, snapshot.status USING
				ERRCODE = 'object_not_in_prerequisite_state', DETAIL = coalesce(snapshot.error, 'Its columns are not known before it is ready.');
		END IF;
	ELSIF task.relation IS NULL THEN
		RETURN NULL;
	ELSE
		SELECT s.* INTO snapshot FROM ml.snapshots s
		WHERE s.relation = task.relation AND s.y_column_name = task.y_column_name AND s.features IS NOT DISTINCT FROM task.features
			AND s.status = 'ready'
		ORDER BY s.snapshot_id DESC LIMIT 1;
		IF NOT FOUND THEN
			RAISE EXCEPTION 'project "%" has a task but no snapshot that is ready', project.name USING
				ERRCODE = 'object_not_in_prerequisite_state',
				HINT = 'Take one with ml.snapshot(), or name plain numbers with option "features".';
		END IF;
	END IF;
	IF snapshot.fitted IS NULL THEN
		RAISE EXCEPTION 'snapshot % has no preprocessing at hand', snapshot.snapshot_id USING
			ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Take a new one with ml.refresh_snapshot().';
	END IF;
	RETURN snapshot;
END
$$;

CREATE FUNCTION ml._import_model(caller ml.caller, project_name text, uri text, format text, sha256 text, snapshot_id bigint, options jsonb)
	RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	owning ml.projects := ml._project(caller, project_name);
	checked jsonb := ml._check_import_options(_import_model.options);
	snapshot ml.snapshots;
	answer jsonb;
	note text;
	imported_id bigint;
BEGIN
	IF coalesce(_import_model.uri, '') = '' THEN
		RAISE EXCEPTION 'uri must not be empty' USING
			ERRCODE = 'invalid_parameter_value', HINT = 'A file of the gateway''s machine, file:/.., or of the model store, store:import.d/...';
	ELSIF lower(coalesce(_import_model.format, '')) <> 'onnx' THEN
		RAISE EXCEPTION 'format "%" is not supported', _import_model.format USING
			ERRCODE = 'invalid_parameter_value', HINT = 'Valid formats: onnx.';
	ELSIF lower(_import_model.sha256) !~ '^[0-9a-f]{64}$' THEN
		RAISE EXCEPTION 'sha256 must be 64 hexadecimal digits' USING
			ERRCODE = 'invalid_parameter_value', DETAIL = pg_catalog.format('It has %s characters.', length(_import_model.sha256));
	END IF;
	snapshot := ml._import_snapshot(caller, owning, _import_model.snapshot_id, checked);
	answer := ml._ask_import(jsonb_build_object(
		'import-id', gen_random_uuid(),
		'database', current_database(),
		'project-id', owning.project_id,
		'project', owning.name,
		'task', owning.task,
		'uri', _import_model.uri,
		'format', lower(_import_model.format),
		'sha256', lower(_import_model.sha256),
		'fitted', snapshot.fitted,
		'features', checked -> 'features',
		'labels', checked -> 'labels',
		'output', checked ->> 'output',
		'scores', checked ->> 'scores',
		'created-at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))::text)::jsonb;
	INSERT INTO ml.models AS m (project_id, algorithm, task, uri, sha256, bytes, format, snapshot_id, fitted_id, labels)
	VALUES (owning.project_id, 'onnx', owning.task, answer ->> 'uri', answer ->> 'sha256', (answer ->> 'bytes')::bigint,
		answer ->> 'format', snapshot.snapshot_id, answer ->> 'fitted-id', ARRAY(SELECT jsonb_array_elements_text(answer -> 'labels')))
	RETURNING m.model_id INTO imported_id;
	FOR note IN SELECT jsonb_array_elements_text(answer -> 'notes') LOOP
		RAISE NOTICE 'model %: %', imported_id, note;
	END LOOP;
	RETURN imported_id;
END
$$;

CREATE FUNCTION ml.import_model(project_name text, uri text, format text DEFAULT 'onnx', sha256 text DEFAULT NULL,
	snapshot_id bigint DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS bigint
	LANGUAGE sql VOLATILE
AS $$
	SELECT ml._import_model(ml.caller(), $1, $2, $3, $4, $5, $6)
$$;

COMMENT ON FUNCTION ml.import_model(text, text, text, text, bigint, jsonb) IS
	'Gives a model file made elsewhere to a project and returns the model''s id; ml.deploy() puts it to work. uri: file:/.. of the gateway''s machine where its import-directory allows it, or store:import.d/.. of the model store. The model takes the features of the snapshot (default: the latest of the project''s task) as one matrix, or its columns by name; without a task, plain numbers by position. options: {"features": [names of plain numbers], "labels": [label of each class of the model, in its order], "output": name, "scores": "probability" | "logit"}. Refused, with the reason, when the file cannot be read, tried or does not fit.';
