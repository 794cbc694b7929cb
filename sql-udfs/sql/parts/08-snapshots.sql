-- Snapshots of captured tables.

-- Sends the request when the transaction commits: the row rides the WAL behind all that this transaction changed, also after
-- it asked. Not in a dump, so a snapshot that was wanted when the dump was made is asked for again where it is restored.
CREATE FUNCTION ml._send_snapshot_request() RETURNS trigger
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
BEGIN
	INSERT INTO ml.snapshot_requests (snapshot_id, relation)
	SELECT s.snapshot_id, s.relation FROM ml.snapshots s WHERE s.snapshot_id = NEW.snapshot_id AND s.status = 'requested';
	RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION ml._send_snapshot_request() FROM PUBLIC;
CREATE CONSTRAINT TRIGGER send_request AFTER INSERT ON ml.snapshots DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW WHEN (NEW.status = 'requested') EXECUTE FUNCTION ml._send_snapshot_request();

-- Captures the table and asks for a snapshot.
CREATE FUNCTION ml._request_snapshot(caller ml.caller, relation oid, y_column_name text, test_size real, test_sampling text,
	preprocess jsonb, key_columns text[], features text[], parent_id bigint) RETURNS ml.snapshots
	LANGUAGE plpgsql SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	canonical text := ml._capture_table(caller, _request_snapshot.relation, _request_snapshot.key_columns);
	snapshot ml.snapshots;
BEGIN
	INSERT INTO ml.snapshots AS s (parent_id, relation, y_column_name, test_size, test_sampling, preprocess, key_columns, features, owner)
	VALUES (
		coalesce(_request_snapshot.parent_id, (SELECT max(p.snapshot_id) FROM ml.snapshots p WHERE p.relation = canonical AND p.status = 'ready')),
		canonical, _request_snapshot.y_column_name, _request_snapshot.test_size, _request_snapshot.test_sampling,
		_request_snapshot.preprocess, _request_snapshot.key_columns, _request_snapshot.features, ml._role_name(caller))
	RETURNING s.* INTO snapshot;
	RETURN snapshot;
END
$$;

-- A snapshot the caller may use: its own, or one of a project it may use.
CREATE FUNCTION ml._snapshot(caller ml.caller, snapshot_id bigint) RETURNS ml.snapshots LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	snapshot ml.snapshots;
BEGIN
	SELECT s.* INTO snapshot FROM ml.snapshots s WHERE s.snapshot_id = _snapshot.snapshot_id;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'snapshot % does not exist', coalesce(_snapshot.snapshot_id::text, 'NULL') USING
			ERRCODE = 'undefined_object', HINT = 'ml.list_snapshots() lists them.';
	ELSIF NOT ml._may_see_snapshot(caller, snapshot) THEN
		RAISE EXCEPTION 'permission denied for snapshot %', _snapshot.snapshot_id USING ERRCODE = 'insufficient_privilege';
	END IF;
	RETURN snapshot;
END
$$;

CREATE FUNCTION ml._may_see_snapshot(caller ml.caller, snapshot ml.snapshots) RETURNS boolean LANGUAGE sql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
	SELECT ml._may(caller, snapshot.owner) OR EXISTS (
		SELECT FROM ml.runs r JOIN ml.projects p USING (project_id)
		WHERE r.snapshot_id = snapshot.snapshot_id AND ml._may(caller, p.owner))
$$;

CREATE FUNCTION ml._snapshot_table(caller ml.caller, relation_name regclass, label_column text, test_size real, test_sampling text, preprocess jsonb)
	RETURNS TABLE (relation text, y_column_name text, snapshot_id bigint, status text)
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	sampling text := ml._check_split(_snapshot_table.test_size, _snapshot_table.test_sampling);
	keys text[];
	snapshot ml.snapshots;
BEGIN
	PERFORM ml._check_relation(caller, _snapshot_table.relation_name);
	PERFORM ml._check_column(_snapshot_table.relation_name, label_column, 'label column');
	keys := ml._check_key(_snapshot_table.relation_name, NULL);
	PERFORM ml._check_features(_snapshot_table.relation_name, NULL, label_column, keys);
	snapshot := ml._request_snapshot(caller, _snapshot_table.relation_name, label_column, _snapshot_table.test_size, sampling,
		ml._check_preprocess(_snapshot_table.relation_name, _snapshot_table.preprocess,
			ml._feature_names(_snapshot_table.relation_name, NULL, label_column, keys)), keys, NULL, NULL);
	RETURN QUERY SELECT snapshot.relation, snapshot.y_column_name, snapshot.snapshot_id, snapshot.status;
END
$$;

CREATE FUNCTION ml.snapshot(relation_name regclass, y_column_name text, test_size real DEFAULT 0.25,
	test_sampling text DEFAULT 'stratified', preprocess jsonb DEFAULT '{}')
	RETURNS TABLE (relation text, y_column_name text, snapshot_id bigint, status text)
	LANGUAGE sql VOLATILE
AS $$
	SELECT * FROM ml._snapshot_table(ml.caller(), $1, $2, $3, $4, $5)
$$;

COMMENT ON FUNCTION ml.snapshot(regclass, text, real, text, jsonb) IS
	'Asks for an immutable snapshot of a table with everything committed before this transaction, and for its preprocessing to be fitted. Returns at once; the snapshot is made after COMMIT (status requested, loading, fitting, ready or failed). The table is captured when it is not yet.';

-- Asks for a snapshot like an earlier one, of the table as it is now: its columns may have changed since.
CREATE FUNCTION ml._snapshot_again(caller ml.caller, prior ml.snapshots) RETURNS ml.snapshots LANGUAGE plpgsql
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	relation_id oid := ml._relation_id(prior.relation);
	keys text[];
BEGIN
	PERFORM ml._check_relation(caller, relation_id);
	PERFORM ml._check_column(relation_id, prior.y_column_name, 'label column');
	keys := ml._check_key(relation_id, prior.key_columns);
	PERFORM ml._check_features(relation_id, prior.features, prior.y_column_name, keys);
	RETURN ml._request_snapshot(caller, relation_id, prior.y_column_name, prior.test_size, prior.test_sampling,
		ml._check_preprocess(relation_id, prior.preprocess, ml._feature_names(relation_id, prior.features, prior.y_column_name, keys)),
		keys, prior.features, prior.snapshot_id);
END
$$;

CREATE FUNCTION ml._snapshot_project(caller ml.caller, project_name text)
	RETURNS TABLE (relation text, y_column_name text, snapshot_id bigint, status text)
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	task ml.tasks := ml._task(ml._project(caller, _snapshot_project.project_name));
	prior ml.snapshots;
	snapshot ml.snapshots;
BEGIN
	SELECT s.* INTO prior FROM ml.snapshots s
	WHERE s.relation = task.relation AND s.y_column_name = task.y_column_name AND s.features IS NOT DISTINCT FROM task.features
	ORDER BY s.snapshot_id DESC LIMIT 1;
	prior.snapshot_id := NULL; -- the parent is the latest that is ready
	prior.relation := task.relation;
	prior.y_column_name := task.y_column_name;
	prior.features := task.features;
	prior.key_columns := task.key_columns;
	prior.test_size := coalesce(prior.test_size, 0.25);
	prior.test_sampling := coalesce(prior.test_sampling, 'stratified');
	prior.preprocess := coalesce(prior.preprocess, '{}');
	snapshot := ml._snapshot_again(caller, prior);
	RETURN QUERY SELECT snapshot.relation, snapshot.y_column_name, snapshot.snapshot_id, snapshot.status;
END
$$;

CREATE FUNCTION ml.snapshot(project_name text) RETURNS TABLE (relation text, y_column_name text, snapshot_id bigint, status text)
	LANGUAGE sql VOLATILE
BEGIN ATOMIC
	SELECT * FROM ml._snapshot_project(ml.caller(), project_name);
END;

COMMENT ON FUNCTION ml.snapshot(text) IS
	'Asks for a snapshot of the table of a project, as its task defines it, with the split and the preprocessing of its latest snapshot.';

CREATE FUNCTION ml._refresh_snapshot(caller ml.caller, snapshot_id bigint) RETURNS bigint
	LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
	SELECT s.snapshot_id FROM ml._snapshot_again(caller, ml._snapshot(caller, _refresh_snapshot.snapshot_id)) AS s
$$;

CREATE FUNCTION ml.refresh_snapshot(snapshot_id bigint) RETURNS bigint LANGUAGE sql VOLATILE
BEGIN ATOMIC
	SELECT ml._refresh_snapshot(ml.caller(), snapshot_id);
END;

COMMENT ON FUNCTION ml.refresh_snapshot(bigint) IS
	'Asks for a new snapshot like an earlier one, of the rows as they are now, and returns its id. Only what changed is stored.';

CREATE FUNCTION ml._list_snapshots(caller ml.caller, project_name text)
	RETURNS TABLE (snapshot_id bigint, parent_id bigint, relation text, iceberg_snapshot_id bigint, lsn pg_lsn, rows bigint,
		added_files int, bytes bigint, status text, created_at timestamptz)
	LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	project ml.projects;
BEGIN
	IF _list_snapshots.project_name IS NOT NULL THEN
		project := ml._project(caller, _list_snapshots.project_name);
	END IF;
	RETURN QUERY
	SELECT s.snapshot_id, s.parent_id, s.relation, s.iceberg_snapshot_id, s.lsn, s.rows, s.added_files, s.bytes, s.status, s.created_at
	FROM ml.snapshots s
	WHERE CASE WHEN project.project_id IS NULL THEN ml._may_see_snapshot(caller, s)
		ELSE EXISTS (SELECT FROM ml.runs r WHERE r.project_id = project.project_id AND r.snapshot_id = s.snapshot_id)
			OR EXISTS (SELECT FROM ml.tasks t WHERE t.project_id = project.project_id
				AND t.relation = s.relation AND t.y_column_name = s.y_column_name)
		END
	ORDER BY s.snapshot_id;
END
$$;

CREATE FUNCTION ml.list_snapshots(project_name text DEFAULT NULL)
	RETURNS TABLE (snapshot_id bigint, parent_id bigint, relation text, iceberg_snapshot_id bigint, lsn pg_lsn, rows bigint,
		added_files int, bytes bigint, status text, created_at timestamptz)
	LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT * FROM ml._list_snapshots(ml.caller(), project_name);
END;

COMMENT ON FUNCTION ml.list_snapshots(text) IS
	'The snapshots of a project, or all that the caller may use. bytes counts the live data at that snapshot, added_files what came since its parent.';
