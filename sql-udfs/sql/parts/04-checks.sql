-- Argument checks shared by the functions below. Each raises one clear error or returns what it checked.

CREATE FUNCTION ml._check_name(name text) RETURNS void LANGUAGE plpgsql IMMUTABLE
	SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF name IS NULL OR btrim(name) = '' THEN
		RAISE EXCEPTION 'project name must not be empty' USING ERRCODE = 'invalid_parameter_value';
	ELSIF octet_length(name) > 255 THEN
		RAISE EXCEPTION 'project name must not be longer than 255 bytes' USING
			ERRCODE = 'name_too_long', DETAIL = format('The name has %s bytes.', octet_length(name));
	ELSIF name ~ '[[:cntrl:]]' THEN
		RAISE EXCEPTION 'project name must not contain control characters' USING ERRCODE = 'invalid_parameter_value';
	END IF;
END
$$;

CREATE FUNCTION ml._check_task(task text) RETURNS text LANGUAGE plpgsql IMMUTABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
BEGIN
	IF task IS NULL THEN
		RAISE EXCEPTION 'task must be given for a new project' USING
			ERRCODE = 'null_value_not_allowed', HINT = 'Valid tasks: classification, regression.';
	ELSIF lower(task) NOT IN ('classification', 'regression') THEN
		RAISE EXCEPTION 'task "%" is not supported', task USING
			ERRCODE = 'invalid_parameter_value', HINT = 'Valid tasks: classification, regression.';
	END IF;
	RETURN lower(task);
END
$$;

-- Options of a project or a task: one flat object of known keys.
CREATE FUNCTION ml._check_options(options jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	unknown_key text;
BEGIN
	IF options IS NULL THEN
		RETURN '{}';
	ELSIF jsonb_typeof(options) <> 'object' THEN
		RAISE EXCEPTION 'options must be a JSON object' USING
			ERRCODE = 'invalid_parameter_value', DETAIL = format('Got a JSON %s.', jsonb_typeof(options));
	END IF;
	SELECT key INTO unknown_key FROM jsonb_object_keys(options) AS key WHERE key <> 'on_error' ORDER BY key LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'option "%" is not known', unknown_key USING
			ERRCODE = 'invalid_parameter_value', HINT = 'Known options: on_error.';
	ELSIF options ? 'on_error' AND coalesce(options ->> 'on_error', '') NOT IN ('abort', 'null') THEN
		RAISE EXCEPTION 'option "on_error" must be "abort" or "null"' USING
			ERRCODE = 'invalid_parameter_value', DETAIL = format('Got %s.', options -> 'on_error');
	END IF;
	RETURN options;
END
$$;

CREATE FUNCTION ml._check_split(test_size real, test_sampling text) RETURNS text LANGUAGE plpgsql IMMUTABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
BEGIN
	IF test_size IS NULL OR NOT (test_size > 0 AND test_size < 1) THEN
		RAISE EXCEPTION 'test_size must be above 0 and below 1' USING
			ERRCODE = 'invalid_parameter_value', DETAIL = format('Got %s.', coalesce(test_size::text, 'NULL'));
	ELSIF test_sampling IS NULL OR lower(test_sampling) NOT IN ('stratified', 'random', 'last') THEN
		RAISE EXCEPTION 'test_sampling "%" is not supported', test_sampling USING
			ERRCODE = 'invalid_parameter_value', HINT = 'Valid values: stratified, random, last.';
	END IF;
	RETURN lower(test_sampling);
END
$$;

-- A project the caller may use; errors when it does not exist or belongs to somebody else.
CREATE FUNCTION ml._project(caller ml.caller, project_name text) RETURNS ml.projects LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	project ml.projects;
	nearest text;
BEGIN
	IF project_name IS NULL THEN
		RAISE EXCEPTION 'project name must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	SELECT p.* INTO project FROM ml.projects p WHERE p.name = project_name;
	IF NOT FOUND THEN
		SELECT ml._nearest(project_name, array_agg(p.name ORDER BY p.name)) INTO nearest
		FROM ml.projects p WHERE ml._may(caller, p.owner);
		RAISE EXCEPTION 'project "%" does not exist', project_name USING
			ERRCODE = 'undefined_object',
			HINT = coalesce('Did you mean: ' || nearest || '?', 'ml.list_projects() lists the projects, ml.create_project() makes one.');
	ELSIF NOT ml._may(caller, project.owner) THEN
		RAISE EXCEPTION 'permission denied for project "%"', project_name USING
			ERRCODE = 'insufficient_privilege', DETAIL = format('The project belongs to role "%s".', project.owner);
	END IF;
	RETURN project;
END
$$;

-- The columns of a table in order, generated ones left out. pg_type is what the replication stream carries: the
-- base type of a domain. kind is b for a supported base type, e for an enum, NULL for a type that cannot be carried.
CREATE FUNCTION ml._columns(relation oid)
	RETURNS TABLE (ordinal int, name text, pg_type text, type_id oid, category text, nullable boolean, kind text)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
	WITH RECURSIVE carried AS (
		SELECT a.attnum, a.attname, a.attnotnull, t.oid AS type_id, a.atttypmod AS type_modifier
		FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
		WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		UNION ALL
		SELECT c.attnum, c.attname, c.attnotnull OR t.typnotnull, t.typbasetype, t.typtypmod
		FROM carried c JOIN pg_type t ON t.oid = c.type_id WHERE t.typtype = 'd'
	)
	SELECT c.attnum::int, c.attname::text,
		CASE WHEN t.typname = 'citext' THEN 'citext' ELSE format_type(t.oid, c.type_modifier) END,
		t.oid,
		CASE
			WHEN t.typtype = 'e' THEN 'text'
			WHEN t.oid = 'bool'::regtype THEN 'boolean'
			WHEN t.oid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) THEN 'integer'
			WHEN t.oid IN ('float4'::regtype, 'float8'::regtype, 'numeric'::regtype) THEN 'number'
			WHEN t.oid IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype, 'uuid'::regtype) OR t.typname = 'citext' THEN 'text'
			WHEN t.oid IN ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype) THEN 'time'
		END,
		NOT c.attnotnull,
		CASE
			WHEN t.typtype = 'e' THEN 'e'
			WHEN t.oid IN (
				'bool'::regtype, 'int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'float4'::regtype, 'float8'::regtype,
				'numeric'::regtype, 'text'::regtype, 'varchar'::regtype, 'bpchar'::regtype, 'date'::regtype,
				'timestamp'::regtype, 'timestamptz'::regtype, 'uuid'::regtype)
				OR t.typname = 'citext' AND t.typcategory = 'S' THEN 'b'
		END
	FROM carried c JOIN pg_type t ON t.oid = c.type_id
	WHERE t.typtype <> 'd'
	ORDER BY c.attnum
$$;

-- The canonical name of a table: schema.table, both quoted where they must be.
CREATE FUNCTION ml._relation_name(relation oid) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
	SELECT format('%I.%I', n.nspname, c.relname)
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = relation
$$;

-- The table behind a canonical name; errors when it is gone.
CREATE FUNCTION ml._relation_id(relation text) RETURNS oid LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF to_regclass(relation) IS NULL THEN
		RAISE EXCEPTION 'table % does not exist any more', relation USING
			ERRCODE = 'undefined_table', HINT = 'Define the task again with ml.define_task().';
	END IF;
	RETURN to_regclass(relation)::oid;
END
$$;

-- Refuses what logical replication cannot carry and what the caller may not read.
CREATE FUNCTION ml._check_relation(caller ml.caller, relation regclass) RETURNS text LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	class pg_class;
	canonical text := ml._relation_name(relation);
	refused text;
BEGIN
	IF relation IS NULL THEN
		RAISE EXCEPTION 'relation name must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	SELECT c.* INTO class FROM pg_class c WHERE c.oid = relation;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'table with OID % does not exist', relation::oid USING ERRCODE = 'undefined_table';
	END IF;
	refused := CASE
		WHEN class.relkind = 'v' THEN 'a view'
		WHEN class.relkind = 'm' THEN 'a materialized view'
		WHEN class.relkind = 'f' THEN 'a foreign table'
		WHEN class.relkind = 'p' THEN 'a partitioned table'
		WHEN class.relkind <> 'r' THEN 'not a table'
		WHEN class.relpersistence = 't' THEN 'a temporary table'
		WHEN class.relpersistence = 'u' THEN 'an unlogged table'
		WHEN class.relnamespace IN ('pg_catalog'::regnamespace, 'ml'::regnamespace, 'ml_lake'::regnamespace)
			OR class.relnamespace = to_regnamespace('information_schema') THEN 'a system table'
	END;
	IF refused IS NOT NULL THEN
		RAISE EXCEPTION 'relation % is %: only ordinary logged tables can be captured', canonical, refused USING
			ERRCODE = 'wrong_object_type',
			HINT = CASE class.relkind
				WHEN 'p' THEN 'Name one of its partitions.'
				WHEN 'r' THEN 'Name a permanent table of your own.'
				ELSE 'Name the table behind it.' END;
	ELSIF NOT has_table_privilege(ml._role(caller), relation, 'SELECT') THEN
		RAISE EXCEPTION 'permission denied for table %', canonical USING
			ERRCODE = 'insufficient_privilege', HINT = 'Training reads the whole table: SELECT on all of it is needed.';
	ELSIF class.relrowsecurity AND NOT pg_has_role(ml._role(caller), class.relowner, 'USAGE') THEN
		RAISE EXCEPTION 'table % has row-level security: only its owner can train on it', canonical USING
			ERRCODE = 'insufficient_privilege', DETAIL = 'Capturing a table reads every row, whatever its policies say.';
	END IF;
	RETURN canonical;
END
$$;

-- Refuses a table with a column whose type the lake cannot carry, naming every such column.
CREATE FUNCTION ml._check_types(relation oid) RETURNS void LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	refused text;
BEGIN
	SELECT string_agg(format('"%s" (%s)', c.name, c.pg_type), ', ' ORDER BY c.ordinal) INTO refused
	FROM ml._columns(relation) c WHERE c.kind IS NULL;
	IF refused IS NOT NULL THEN
		RAISE EXCEPTION 'table % has columns of unsupported types: %', ml._relation_name(relation), refused USING
			ERRCODE = 'feature_not_supported',
			HINT = 'Supported: smallint, integer, bigint, real, double precision, numeric, boolean, text, varchar, char, '
				'citext, date, timestamp, timestamptz, uuid, enums and domains over these.';
	END IF;
END
$$;

-- A column by name; errors when it is missing, with the nearest names.
CREATE FUNCTION ml._check_column(relation oid, column_name text, use text) RETURNS text LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	hint text;
BEGIN
	IF column_name IS NULL THEN
		RAISE EXCEPTION '% must not be NULL', use USING ERRCODE = 'null_value_not_allowed';
	ELSIF EXISTS (SELECT FROM ml._columns(relation) c WHERE c.name = column_name) THEN
		RETURN column_name;
	ELSIF EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = relation AND a.attname = column_name AND a.attgenerated <> '') THEN
		RAISE EXCEPTION '% "%" of table % is a generated column', use, column_name, ml._relation_name(relation) USING
			ERRCODE = 'feature_not_supported', DETAIL = 'Logical replication does not carry generated columns.';
	END IF;
	SELECT coalesce('Did you mean: ' || ml._nearest(column_name, array_agg(c.name ORDER BY c.ordinal)) || '?', 'No column has a name like it.')
	INTO hint FROM ml._columns(relation) c;
	RAISE EXCEPTION '% "%" does not exist in table %', use, column_name, ml._relation_name(relation) USING
		ERRCODE = 'undefined_column', HINT = hint;
END
$$;

-- Refuses a label whose type does not suit the task.
CREATE FUNCTION ml._check_label(relation oid, column_name text, task text) RETURNS void LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	label record;
BEGIN
	PERFORM ml._check_column(relation, column_name, 'label column');
	SELECT c.* INTO label FROM ml._columns(relation) c WHERE c.name = column_name;
	IF task = 'classification' AND label.category NOT IN ('text', 'boolean', 'integer') THEN
		RAISE EXCEPTION 'label column "%" of type % cannot be classified', column_name, label.pg_type USING
			ERRCODE = 'datatype_mismatch',
			HINT = CASE WHEN label.category = 'number' THEN 'Use task regression, or make the label an integer, a text or a boolean.'
				ELSE 'A label of a classification is a text, an enum, a boolean or an integer.' END;
	ELSIF task = 'regression' AND label.category NOT IN ('integer', 'number') THEN
		RAISE EXCEPTION 'label column "%" of type % cannot be regressed', column_name, label.pg_type USING
			ERRCODE = 'datatype_mismatch', HINT = 'A label of a regression is a number. Use task classification for this column.';
	END IF;
END
$$;

-- The key of a table: the columns given, or else the primary key. Both must be unique and not null.
CREATE FUNCTION ml._check_key(relation oid, key_columns text[]) RETURNS text[] LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	found text[];
	key_column text;
BEGIN
	FOREACH key_column IN ARRAY coalesce(key_columns, '{}') LOOP
		PERFORM ml._check_column(relation, key_column, 'key column');
	END LOOP;
	SELECT names.columns INTO found
	FROM pg_index i
	CROSS JOIN LATERAL (
		SELECT array_agg(a.attname::text ORDER BY k.ordinal) AS columns, bool_and(a.attnotnull) AS required
		FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, ordinal)
		JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
		WHERE k.ordinal <= i.indnkeyatts
	) AS names
	WHERE i.indrelid = relation AND i.indisunique AND i.indisvalid AND i.indimmediate
		AND i.indpred IS NULL AND i.indexprs IS NULL AND names.required
		AND CASE WHEN key_columns IS NULL THEN i.indisprimary ELSE names.columns @> key_columns AND names.columns <@ key_columns END
	ORDER BY i.indisprimary DESC, i.indexrelid
	LIMIT 1;
	IF found IS NOT NULL THEN
		RETURN found;
	ELSIF key_columns IS NULL THEN
		RAISE EXCEPTION 'table % has no primary key', ml._relation_name(relation) USING
			ERRCODE = 'object_not_in_prerequisite_state',
			HINT = 'Add a primary key, or define the task with key_columns that have a unique index and are NOT NULL.';
	END IF;
	RAISE EXCEPTION 'key columns % of table % do not identify a row', key_columns, ml._relation_name(relation) USING
		ERRCODE = 'object_not_in_prerequisite_state',
		HINT = 'A key needs a unique index on exactly these columns, each of them NOT NULL.';
END
$$;

-- Features by name: known, named once, neither the label nor a key. NULL stands for all the others.
CREATE FUNCTION ml._check_features(relation oid, features text[], y_column_name text, key_columns text[]) RETURNS void
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	feature text;
	seen text[] := '{}';
BEGIN
	IF features IS NULL THEN
		IF NOT EXISTS (SELECT FROM ml._columns(relation) c WHERE c.name <> y_column_name AND c.name <> ALL (key_columns)) THEN
			RAISE EXCEPTION 'table % has no feature column', ml._relation_name(relation) USING
				ERRCODE = 'invalid_parameter_value', DETAIL = 'Nothing is left beside the key and the label.';
		END IF;
		RETURN;
	ELSIF cardinality(features) = 0 THEN
		RAISE EXCEPTION 'features must not be empty' USING
			ERRCODE = 'invalid_parameter_value', HINT = 'NULL stands for all columns but the key and the label.';
	END IF;
	FOREACH feature IN ARRAY features LOOP
		PERFORM ml._check_column(relation, feature, 'feature column');
		IF feature = y_column_name THEN
			RAISE EXCEPTION 'feature column "%" is the label', feature USING ERRCODE = 'invalid_parameter_value';
		ELSIF feature = ANY (key_columns) THEN
			RAISE EXCEPTION 'feature column "%" is part of the key', feature USING ERRCODE = 'invalid_parameter_value';
		ELSIF feature = ANY (seen) THEN
			RAISE EXCEPTION 'feature column "%" is named twice', feature USING ERRCODE = 'invalid_parameter_value';
		END IF;
		seen := seen || feature;
	END LOOP;
END
$$;

-- The features of a table by name: those given, or all columns but the label and the key.
CREATE FUNCTION ml._feature_names(relation oid, features text[], y_column_name text, key_columns text[]) RETURNS text[] LANGUAGE sql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
	SELECT coalesce(features, array_agg(c.name ORDER BY c.ordinal))
	FROM ml._columns(relation) c WHERE c.name <> y_column_name AND c.name <> ALL (key_columns)
$$;

-- One value given in JSON against its kind (integer, number, boolean, choice, any) and its limits, which are inclusive
-- but for a minimum that must be exceeded. subject begins the message.
CREATE FUNCTION ml._check_setting(subject text, value jsonb, kind text, minimum float8, above boolean, maximum float8, choices text[])
	RETURNS void LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	wanted text := CASE kind
		WHEN 'integer' THEN format('an integer from %s to %s', minimum, maximum)
		WHEN 'number' THEN format(CASE WHEN above THEN 'a number above %s and at most %s' ELSE 'a number from %s to %s' END, minimum, maximum)
		WHEN 'choice' THEN 'one of ' || array_to_string(choices, ', ')
		ELSE 'true or false'
	END;
	valid boolean := CASE
		WHEN kind = 'any' THEN true
		WHEN kind IN ('integer', 'number') AND jsonb_typeof(value) = 'number' THEN
			value::numeric <= maximum::numeric AND (value::numeric > minimum::numeric OR value::numeric = minimum::numeric AND NOT above)
			AND (kind = 'number' OR value::numeric = trunc(value::numeric))
		WHEN kind = 'choice' THEN jsonb_typeof(value) = 'string' AND value #>> '{}' = ANY (choices)
		WHEN kind = 'boolean' THEN jsonb_typeof(value) = 'boolean'
		ELSE false
	END;
BEGIN
	IF NOT valid THEN
		RAISE EXCEPTION '% must be %', subject, wanted USING
			ERRCODE = 'invalid_parameter_value', DETAIL = format('Got %s.', left(value::text, 100));
	END IF;
END
$$;

-- What can be asked of the preprocessing of a column.
CREATE FUNCTION ml._preprocess_options() RETURNS TABLE (name text, kind text, minimum float8, maximum float8, choices text[])
	LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT * FROM (VALUES
		('impute', 'choice', NULL::float8, NULL::float8, ARRAY['none', 'mean', 'median', 'most-frequent', 'constant']),
		('value', 'any', NULL, NULL, NULL),
		('indicator', 'boolean', NULL, NULL, NULL),
		('encode', 'choice', NULL, NULL, ARRAY['none', 'ordinal', 'one-hot']),
		('scale', 'choice', NULL, NULL, ARRAY['none', 'standard', 'min-max', 'max-abs', 'robust']),
		('min-frequency', 'number', 0, 1e15, NULL),
		('max-levels', 'integer', 1, 16384, NULL)
	) AS registry (name, kind, minimum, maximum, choices);
END;

-- The options of one column, their names and values with dashes. Errors name the column.
CREATE FUNCTION ml._check_column_preprocess(column_name text, category text, options jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	item record;
	known record;
	checked jsonb := '{}';
	refused text;
BEGIN
	IF jsonb_typeof(options) <> 'object' THEN
		RAISE EXCEPTION 'preprocess of column "%" must be a JSON object', column_name USING
			ERRCODE = 'invalid_parameter_value', HINT = 'Example: {"age": {"impute": "mean", "scale": "standard"}}.';
	END IF;
	FOR item IN SELECT replace(key, '_', '-') AS key, value FROM jsonb_each(options) ORDER BY key LOOP
		SELECT o.* INTO known FROM ml._preprocess_options() o WHERE o.name = item.key;
		IF NOT FOUND THEN
			RAISE EXCEPTION 'preprocess option "%" of column "%" is not known', item.key, column_name USING
				ERRCODE = 'invalid_parameter_value',
				HINT = (SELECT 'Known options: ' || string_agg(o.name, ', ') || '.' FROM ml._preprocess_options() o);
		END IF;
		IF known.kind = 'choice' AND jsonb_typeof(item.value) = 'string' THEN
			item.value := to_jsonb(replace(item.value #>> '{}', '_', '-'));
		END IF;
		PERFORM ml._check_setting(format('preprocess option "%s" of column "%s"', item.key, column_name),
			item.value, known.kind, known.minimum, false, known.maximum, known.choices);
		checked := checked || jsonb_build_object(item.key, item.value);
	END LOOP;
	refused := CASE
		WHEN (checked ->> 'impute' = 'constant') IS DISTINCT FROM (checked ? 'value') AND (checked ? 'value' OR checked ->> 'impute' = 'constant')
			THEN 'must have a value exactly when impute is constant'
		WHEN category = 'text' AND checked ->> 'encode' = 'none' THEN 'must be encoded, as ordinal or one-hot'
		WHEN category = 'text' AND checked ->> 'impute' IN ('mean', 'median') THEN 'has no mean and no median'
		WHEN category IN ('number', 'time') AND checked ->> 'encode' <> 'none' THEN 'cannot be encoded: only texts, integers and booleans can'
		WHEN checked ->> 'encode' = 'one-hot' AND checked ->> 'scale' <> 'none' THEN 'cannot be scaled when it is one-hot'
	END;
	IF refused IS NOT NULL THEN
		RAISE EXCEPTION 'preprocess column "%" %', column_name, refused USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN checked;
END
$$;

-- Preprocessing: {"default": "tree" | "linear", "column": {option: value}}. Returns it with canonical names.
CREATE FUNCTION ml._check_preprocess(relation oid, preprocess jsonb, feature_names text[]) RETURNS jsonb LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
DECLARE
	item record;
	category text;
	checked jsonb := '{}';
BEGIN
	IF preprocess IS NULL THEN
		RETURN checked;
	ELSIF jsonb_typeof(preprocess) <> 'object' THEN
		RAISE EXCEPTION 'preprocess must be a JSON object' USING
			ERRCODE = 'invalid_parameter_value', DETAIL = format('Got a JSON %s.', jsonb_typeof(preprocess));
	END IF;
	FOR item IN SELECT key, value FROM jsonb_each(preprocess) ORDER BY key LOOP
		IF item.key = 'default' AND jsonb_typeof(item.value) <> 'object' THEN
			PERFORM ml._check_setting('preprocess default', item.value, 'choice', NULL, NULL, NULL, ARRAY['tree', 'linear']);
			checked := checked || jsonb_build_object(item.key, item.value);
			CONTINUE;
		END IF;
		PERFORM ml._check_column(relation, item.key, 'preprocess column');
		IF item.key <> ALL (feature_names) THEN
			RAISE EXCEPTION 'preprocess column "%" is not a feature', item.key USING ERRCODE = 'invalid_parameter_value';
		END IF;
		SELECT c.category INTO category FROM ml._columns(relation) c WHERE c.name = item.key;
		checked := checked || jsonb_build_object(item.key, ml._check_column_preprocess(item.key, category, item.value));
	END LOOP;
	RETURN checked;
END
$$;
