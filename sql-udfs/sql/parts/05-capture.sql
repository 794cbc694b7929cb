-- Capturing a table: publication, replica identity, grants, and the row that the change stream follows.

-- The publication is made with the first capture, not with the extension, so that a restored dump can make it itself.
CREATE FUNCTION ml._ensure_publication() RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF current_setting('wal_level') <> 'logical' THEN
		RAISE EXCEPTION 'tables cannot be captured while wal_level is "%"', current_setting('wal_level') USING
			ERRCODE = 'object_not_in_prerequisite_state',
			HINT = 'Set wal_level = logical in postgresql.conf and restart PostgreSQL.';
	END IF;
	IF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = 'millrace') THEN
		CREATE PUBLICATION millrace FOR TABLE ml.snapshot_requests;
	ELSIF NOT EXISTS (
		SELECT FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
		WHERE p.pubname = 'millrace' AND r.prrelid = 'ml.snapshot_requests'::regclass)
	THEN
		ALTER PUBLICATION millrace ADD TABLE ml.snapshot_requests;
	END IF;
END
$$;

-- The columns of a table as the change stream reads them.
CREATE FUNCTION ml._columns_json(relation oid) RETURNS jsonb LANGUAGE sql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
	SELECT jsonb_agg(jsonb_build_object('name', c.name, 'pg-type', c.pg_type, 'nullable', c.nullable, 'kind', c.kind) ORDER BY c.ordinal)
	FROM ml._columns(relation) c
$$;

-- Lets the workers read the table. Returns what was granted, so that only this is taken back.
CREATE FUNCTION ml._grant_read(relation oid) RETURNS text[] LANGUAGE plpgsql
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	schema_id oid := (SELECT relnamespace FROM pg_class WHERE oid = relation);
	granted text[] := '{}';
BEGIN
	IF NOT has_schema_privilege('ml_worker', schema_id, 'USAGE') THEN
		EXECUTE format('GRANT USAGE ON SCHEMA %s TO ml_worker', schema_id::regnamespace);
		granted := granted || 'schema'::text;
	END IF;
	IF NOT has_table_privilege('ml_worker', relation, 'SELECT') THEN
		EXECUTE format('GRANT SELECT ON TABLE %s TO ml_worker', ml._relation_name(relation));
		granted := granted || 'table'::text;
	END IF;
	RETURN granted;
END
$$;

-- Whether a table is captured as it stands now: nothing is left to do for it.
CREATE FUNCTION ml._is_captured(relation oid, keys text[]) RETURNS boolean LANGUAGE sql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
	SELECT EXISTS (
		SELECT FROM ml.captured_tables t
		JOIN pg_class c ON c.oid = t.relid
		JOIN pg_publication_rel r ON r.prrelid = c.oid
		JOIN pg_publication p ON p.oid = r.prpubid
		WHERE t.relation = ml._relation_name(_is_captured.relation) AND c.oid = _is_captured.relation
			AND t.key_columns = keys AND t.status NOT IN ('dropping', 'failed') AND c.relreplident = 'f'
			AND p.pubname = 'millrace' AND t.columns = ml._columns_json(c.oid))
$$;

-- Writes the row of a table that is captured for the first time, again after a release, or under the name of a dropped one.
CREATE FUNCTION ml._record_capture(caller ml.caller, relation oid, keys text[]) RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, ml, pg_temp
AS $$
	INSERT INTO ml.captured_tables AS t (relation, relid, schema_name, table_name, key_columns, columns,
		prior_replica_identity, prior_identity_index, granted, status, requested_by)
	SELECT ml._relation_name(c.oid), c.oid, n.nspname, c.relname, keys, ml._columns_json(c.oid), c.relreplident,
		(SELECT x.relname FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
			WHERE i.indrelid = c.oid AND i.indisreplident AND c.relreplident = 'i'),
		ml._grant_read(c.oid), 'requested', ml._role_name(caller)
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE c.oid = _record_capture.relation
	ON CONFLICT ON CONSTRAINT captured_tables_pkey DO UPDATE SET
		relid = excluded.relid, key_columns = excluded.key_columns, columns = excluded.columns,
		-- A restored table comes back with the identity that the capture gave it.
		prior_replica_identity = CASE WHEN excluded.prior_replica_identity = 'f' THEN t.prior_replica_identity
			ELSE excluded.prior_replica_identity END,
		prior_identity_index = coalesce(excluded.prior_identity_index, t.prior_identity_index),
		granted = excluded.granted, status = 'requested', error = NULL, requested_by = excluded.requested_by,
		requested_at = now(), updated_at = now()
$$;

-- Whether a table is in the publication.
CREATE FUNCTION ml._is_published(relation oid) RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	SELECT EXISTS (SELECT FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
		WHERE p.pubname = 'millrace' AND r.prrelid = relation)
$$;

-- A capture alters the table under an exclusive lock: that is for its owner to allow. Reading it later is for who may read.
CREATE FUNCTION ml._check_may_capture(caller ml.caller, relation oid) RETURNS void LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	table_owner oid := (SELECT c.relowner FROM pg_class c WHERE c.oid = relation);
BEGIN
	IF NOT (pg_has_role(ml._role(caller), table_owner, 'USAGE') OR pg_has_role(ml._role(caller), 'ml_admin', 'USAGE')) THEN
		RAISE EXCEPTION 'permission denied to capture table %', ml._relation_name(relation) USING
			ERRCODE = 'insufficient_privilege',
			DETAIL = 'The first capture of a table sets its replica identity to FULL and publishes it.',
			HINT = format('Its owner "%s" or a member of ml_admin must take the first snapshot with ml.snapshot(); '
				'then SELECT on the table is enough.', pg_get_userbyid(table_owner));
	END IF;
END
$$;

-- Captures a table, or brings the row of a captured one up to date. The caller has passed ml._check_relation.
CREATE FUNCTION ml._capture_table(caller ml.caller, relation oid, keys text[]) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	canonical text := ml._relation_name(relation);
	captured ml.captured_tables;
	is_new boolean;
BEGIN
	PERFORM ml._check_types(relation);
	IF ml._is_captured(relation, keys) THEN
		RETURN canonical;
	END IF;
	-- One capture at a time: two of them would race for the publication. The mode excludes itself, but neither readers
	-- nor the change stream, which updates these rows while somebody leaves a transaction open.
	LOCK TABLE ml.captured_tables IN SHARE UPDATE EXCLUSIVE MODE;
	SELECT t.* INTO captured FROM ml.captured_tables t WHERE t.relation = canonical FOR UPDATE;
	is_new := captured.relation IS NULL OR captured.status = 'dropping' OR captured.relid <> relation;
	IF is_new OR NOT ml._is_published(relation) OR (SELECT c.relreplident FROM pg_class c WHERE c.oid = relation) <> 'f' THEN
		PERFORM ml._check_may_capture(caller, relation);
	END IF;
	PERFORM ml._ensure_publication();
	IF captured.relid <> relation AND captured.status <> 'dropping' THEN
		PERFORM ml._restore_table(captured); -- the table that had this name before
	END IF;
	IF is_new THEN
		PERFORM ml._record_capture(caller, relation, keys);
	ELSIF captured.key_columns <> keys THEN
		RAISE EXCEPTION 'table % is already captured with another key', canonical USING
			ERRCODE = 'object_in_use',
			DETAIL = format('Captured with %s, asked for %s.', captured.key_columns, keys),
			HINT = 'Use the same key_columns, or release the table first with ml.release_table().';
	ELSE
		UPDATE ml.captured_tables t SET columns = ml._columns_json(_capture_table.relation),
			status = CASE t.status WHEN 'failed' THEN 'requested' ELSE t.status END, error = NULL, updated_at = now()
		WHERE t.relation = canonical;
	END IF;
	-- Both wait for transactions that have changed the table already. The log leaves out what they did before it was published, and
	-- a load that does not wait for them does not see it.
	IF (SELECT c.relreplident FROM pg_class c WHERE c.oid = relation) <> 'f' THEN
		EXECUTE format('ALTER TABLE ONLY %s REPLICA IDENTITY FULL', canonical);
	ELSIF NOT ml._is_published(relation) THEN
		EXECUTE format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', canonical);
	END IF;
	IF NOT ml._is_published(relation) THEN
		EXECUTE format('ALTER PUBLICATION millrace ADD TABLE ONLY %s', canonical);
	END IF;
	RETURN canonical;
END
$$;

-- The table of a capture, also when it was renamed since; NULL when it is gone. A stranger that took its name is not it.
-- A dump keeps names, not numbers: after a restore the published table of that name is meant.
CREATE FUNCTION ml._captured_id(captured ml.captured_tables) RETURNS oid LANGUAGE sql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
	SELECT CASE
		WHEN named = captured.relid THEN named
		WHEN ml._is_published(captured.relid)
			AND NOT EXISTS (SELECT FROM ml.captured_tables t WHERE t.relation = ml._relation_name(captured.relid)) THEN captured.relid
		WHEN ml._is_published(named) AND NOT EXISTS (SELECT FROM ml.captured_tables t WHERE t.relid = named) THEN named
	END
	FROM (SELECT to_regclass(captured.relation)::oid AS named) AS n
$$;

-- Gives a table back as it was: publication, replica identity, grants. Does nothing to a table that is gone.
CREATE FUNCTION ml._restore_table(captured ml.captured_tables) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	table_id oid := ml._captured_id(captured);
	canonical text := ml._relation_name(table_id);
BEGIN
	IF table_id IS NOT NULL THEN
		IF ml._is_published(table_id) THEN
			EXECUTE format('ALTER PUBLICATION millrace DROP TABLE ONLY %s', canonical);
		END IF;
		IF (SELECT c.relreplident FROM pg_class c WHERE c.oid = table_id) = 'f' THEN
			CASE captured.prior_replica_identity
				WHEN 'd' THEN EXECUTE format('ALTER TABLE ONLY %s REPLICA IDENTITY DEFAULT', canonical);
				WHEN 'n' THEN EXECUTE format('ALTER TABLE ONLY %s REPLICA IDENTITY NOTHING', canonical);
				WHEN 'i' THEN EXECUTE format('ALTER TABLE ONLY %s REPLICA IDENTITY USING INDEX %I', canonical, captured.prior_identity_index);
				ELSE NULL;
			END CASE;
		END IF;
		IF 'table' = ANY (captured.granted) THEN
			EXECUTE format('REVOKE SELECT ON TABLE %s FROM ml_worker', canonical);
		END IF;
	END IF;
	PERFORM ml._restore_schema(captured);
END
$$;

-- Takes USAGE on the schema of a capture back, or leaves that to another captured table of the schema that still needs it.
CREATE FUNCTION ml._restore_schema(captured ml.captured_tables) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	heir text;
BEGIN
	IF NOT 'schema' = ANY (captured.granted) OR to_regnamespace(quote_ident(captured.schema_name)) IS NULL THEN
		RETURN;
	END IF;
	SELECT t.relation INTO heir FROM ml.captured_tables t
	WHERE t.schema_name = captured.schema_name AND t.relation <> captured.relation AND t.status <> 'dropping'
	ORDER BY t.relation LIMIT 1;
	IF heir IS NULL THEN
		EXECUTE format('REVOKE USAGE ON SCHEMA %I FROM ml_worker', captured.schema_name);
	ELSE
		UPDATE ml.captured_tables t SET granted = array_remove(t.granted, 'schema') || 'schema'::text WHERE t.relation = heir;
	END IF;
END
$$;

-- Releases a captured table: gives it back and asks the change stream to let go. False when it is not captured.
CREATE FUNCTION ml._release_table(relation_name text) RETURNS boolean LANGUAGE plpgsql
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	captured ml.captured_tables;
BEGIN
	IF NOT EXISTS (SELECT FROM ml.captured_tables t WHERE t.relation = relation_name AND t.status <> 'dropping') THEN
		RETURN false;
	END IF;
	LOCK TABLE ml.captured_tables IN SHARE UPDATE EXCLUSIVE MODE; -- before the row, as a capture does
	SELECT t.* INTO captured FROM ml.captured_tables t WHERE t.relation = relation_name AND t.status <> 'dropping' FOR UPDATE;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	PERFORM ml._restore_table(captured);
	-- Nobody will answer these any more.
	UPDATE ml.snapshots s SET status = 'failed', error = 'the table was released before the snapshot was made'
	WHERE s.relation = relation_name AND s.status IN ('requested', 'loading', 'fitting');
	IF captured.status = 'requested' AND captured.lake_table IS NULL THEN
		DELETE FROM ml.captured_tables t WHERE t.relation = relation_name;
	ELSE
		UPDATE ml.captured_tables t SET status = 'dropping', granted = '{}', updated_at = now() WHERE t.relation = relation_name;
	END IF;
	RETURN true;
END
$$;

-- Releases a table that no task, no unfinished run and no snapshot in the making needs any more.
CREATE FUNCTION ml._release_unused(relation_name text) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, ml, pg_temp
AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM ml.tasks t WHERE t.relation = relation_name)
		AND NOT EXISTS (SELECT FROM ml.runs r JOIN ml.snapshots s USING (snapshot_id)
			WHERE s.relation = relation_name AND r.status NOT IN ('succeeded', 'failed', 'cancelled'))
		AND NOT EXISTS (SELECT FROM ml.snapshots s
			WHERE s.relation = relation_name AND s.status IN ('requested', 'loading', 'fitting'))
	THEN
		PERFORM ml._release_table(relation_name);
	END IF;
END
$$;

CREATE FUNCTION ml._release_table(caller ml.caller, relation_name regclass) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	captured_name text := (SELECT t.relation FROM ml.captured_tables t
		WHERE t.status <> 'dropping' AND ml._captured_id(t) = relation_name::oid); -- another one after a rename
	users text;
BEGIN
	IF relation_name IS NULL THEN
		RAISE EXCEPTION 'relation name must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	ELSIF NOT (ml._may(caller, 'ml_admin')
		OR pg_has_role(ml._role(caller), (SELECT c.relowner FROM pg_class c WHERE c.oid = relation_name), 'USAGE'))
	THEN
		RAISE EXCEPTION 'permission denied for table %', ml._relation_name(relation_name) USING
			ERRCODE = 'insufficient_privilege', HINT = 'Its owner or a member of ml_admin can release it.';
	END IF;
	SELECT string_agg(format('"%s"', p.name), ', ' ORDER BY p.name) INTO users
	FROM ml.tasks t JOIN ml.projects p USING (project_id) WHERE t.relation IN (captured_name, ml._relation_name(relation_name));
	IF users IS NOT NULL THEN
		RAISE EXCEPTION 'table % is used by projects: %', ml._relation_name(relation_name), users USING
			ERRCODE = 'object_in_use', HINT = 'Drop these projects or define their tasks on another table first.';
	END IF;
	RETURN captured_name IS NOT NULL AND ml._release_table(captured_name);
END
$$;

CREATE FUNCTION ml.release_table(relation_name regclass) RETURNS boolean LANGUAGE sql VOLATILE
BEGIN ATOMIC
	SELECT ml._release_table(ml.caller(), relation_name);
END;

COMMENT ON FUNCTION ml.release_table(regclass) IS
	'Stops capturing a table that no project uses: takes it out of the publication and restores its replica identity. Returns whether it was captured.';

-- Everything the extension changed outside its own schema, undone. DROP EXTENSION calls it through an event trigger.
CREATE FUNCTION ml._release_everything() RETURNS bigint LANGUAGE plpgsql
	SET search_path = pg_catalog, ml, pg_temp SET client_min_messages = warning
AS $$
DECLARE
	captured ml.captured_tables;
	released bigint := 0;
BEGIN
	FOR captured IN SELECT t.* FROM ml.captured_tables t WHERE t.status <> 'dropping' ORDER BY t.relation LOOP
		PERFORM ml._release_table(captured.relation);
		released := released + 1;
	END LOOP;
	DROP PUBLICATION IF EXISTS millrace;
	RETURN released;
END
$$;

CREATE FUNCTION ml._release_all(caller ml.caller) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
	SET search_path = pg_catalog, ml, pg_temp
AS $$
BEGIN
	IF NOT pg_has_role(ml._role(caller), 'ml_admin', 'USAGE') THEN
		RAISE EXCEPTION 'permission denied to release all tables' USING
			ERRCODE = 'insufficient_privilege', HINT = 'Only members of ml_admin can.';
	END IF;
	RETURN ml._release_everything();
END
$$;

CREATE FUNCTION ml.release_all() RETURNS bigint LANGUAGE sql VOLATILE
BEGIN ATOMIC
	SELECT ml._release_all(ml.caller());
END;

COMMENT ON FUNCTION ml.release_all() IS
	'Stops capturing every table and drops the publication; for members of ml_admin. Returns the number of tables. DROP EXTENSION does the same by itself.';
