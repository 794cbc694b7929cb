-- The registry of algorithms and their hyper-parameters. What is not available yet is listed so that its name is known.

CREATE FUNCTION ml._algorithms() RETURNS TABLE (algorithm text, aliases text[], tasks text[], runtime text, available boolean)
	LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT * FROM (VALUES
		('xgboost', ARRAY['xgb', 'gradient_boosting', 'gradient_boosted_trees', 'gbdt', 'gbt', 'boosted_trees',
				'xgb_binary', 'xgb_multiclass', 'xgb_regression'],
			ARRAY['classification', 'regression'], 'flink', true),
		('linear', ARRAY['linear_regression', 'logistic_regression', 'logistic', 'ols'],
			ARRAY['classification', 'regression'], 'flink', false),
		('lightgbm', ARRAY['lgbm'], ARRAY['classification', 'regression'], 'flink', false),
		('random_forest', ARRAY['forest'], ARRAY['classification', 'regression'], 'flink', false)
	) AS registry (algorithm, aliases, tasks, runtime, available);
END;

-- kind, limits and choices as in ml._check_setting. The canonical name is the one queued.
CREATE FUNCTION ml._hyperparams()
	RETURNS TABLE (algorithm text, name text, aliases text[], kind text, minimum float8, above boolean, maximum float8,
		default_value jsonb, choices text[])
	LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT * FROM (VALUES
		('xgboost', 'n_estimators', ARRAY['num_boost_round', 'num_round', 'nrounds', 'num_trees'],
			'integer', 1, false, 100000, '100'::jsonb, NULL::text[]),
		('xgboost', 'early_stopping_rounds', '{}', 'integer', 0, false, 100000, '0', NULL),
		('xgboost', 'eta', '{learning_rate}', 'number', 0, true, 1, '0.3', NULL),
		('xgboost', 'max_depth', '{}', 'integer', 1, false, 32, '6', NULL),
		('xgboost', 'max_leaves', '{}', 'integer', 0, false, 1048576, '0', NULL),
		('xgboost', 'grow_policy', '{}', 'choice', NULL, NULL, NULL, '"depthwise"', '{depthwise,lossguide}'),
		('xgboost', 'max_bin', '{max_bins}', 'integer', 2, false, 65536, '256', NULL),
		('xgboost', 'gamma', '{min_split_loss}', 'number', 0, false, 1e9, '0', NULL),
		('xgboost', 'min_child_weight', '{}', 'number', 0, false, 1e9, '1', NULL),
		('xgboost', 'max_delta_step', '{}', 'number', 0, false, 1e9, '0', NULL),
		('xgboost', 'subsample', '{}', 'number', 0, true, 1, '1', NULL),
		('xgboost', 'colsample_bytree', '{}', 'number', 0, true, 1, '1', NULL),
		('xgboost', 'colsample_bylevel', '{}', 'number', 0, true, 1, '1', NULL),
		('xgboost', 'colsample_bynode', '{}', 'number', 0, true, 1, '1', NULL),
		('xgboost', 'lambda', '{reg_lambda}', 'number', 0, false, 1e9, '1', NULL),
		('xgboost', 'alpha', '{reg_alpha}', 'number', 0, false, 1e9, '0', NULL),
		('xgboost', 'scale_pos_weight', '{}', 'number', 0, true, 1e9, '1', NULL),
		('xgboost', 'num_parallel_tree', '{}', 'integer', 1, false, 1000, '1', NULL),
		('xgboost', 'huber_slope', '{}', 'number', 0, true, 1e9, '1', NULL),
		('xgboost', 'nthread', '{n_jobs}', 'integer', 1, false, 1024, NULL, NULL),
		('xgboost', 'seed', '{random_state}', 'integer', 0, false, 2147483647, '42', NULL),
		('xgboost', 'objective', '{}', 'choice', NULL, NULL, NULL, NULL,
			'{binary:logistic,multi:softprob,reg:squarederror,reg:absoluteerror,reg:pseudohubererror,count:poisson,reg:gamma,reg:tweedie}')
	) AS registry (algorithm, name, aliases, kind, minimum, above, maximum, default_value, choices);
END;

-- The canonical name of an available algorithm. "linear" is the default of ml.train: until it is available it stands
-- for the algorithm that is.
CREATE FUNCTION ml._check_algorithm(algorithm text, task text) RETURNS text LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	known record;
	available text := (SELECT string_agg(a.algorithm, ', ' ORDER BY a.algorithm) FROM ml._algorithms() a
		WHERE a.available AND _check_algorithm.task = ANY (a.tasks));
	nearest text;
BEGIN
	SELECT a.* INTO known FROM ml._algorithms() a
	WHERE lower(_check_algorithm.algorithm) = a.algorithm OR lower(_check_algorithm.algorithm) = ANY (a.aliases);
	IF NOT FOUND THEN
		SELECT ml._nearest(lower(_check_algorithm.algorithm), array_agg(n.name)) INTO nearest
		FROM ml._algorithms() a CROSS JOIN LATERAL unnest(a.aliases || a.algorithm) AS n (name) WHERE a.available;
		RAISE EXCEPTION 'algorithm "%" is not known', _check_algorithm.algorithm USING
			ERRCODE = 'invalid_parameter_value',
			HINT = coalesce('Did you mean: ' || nearest || '? ', '') || format('Available for %s: %s.', _check_algorithm.task, available);
	ELSIF known.available AND _check_algorithm.task = ANY (known.tasks) THEN
		RETURN known.algorithm;
	ELSIF known.algorithm = 'linear' THEN
		RAISE NOTICE 'algorithm "%" is not available yet, training with "xgboost"', _check_algorithm.algorithm;
		RETURN 'xgboost';
	END IF;
	RAISE EXCEPTION 'algorithm "%" is not available yet for %', _check_algorithm.algorithm, _check_algorithm.task USING
		ERRCODE = 'feature_not_supported', HINT = format('Available for %s: %s.', _check_algorithm.task, available);
END
$$;

-- Hyper-parameters under their canonical names; errors on an unknown name, a value out of range, a name given twice.
CREATE FUNCTION ml._check_hyperparams(algorithm text, task text, hyperparams jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE
	SET search_path = pg_catalog, ml, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	item record;
	known record;
	nearest text;
	checked jsonb := '{}';
BEGIN
	IF hyperparams IS NULL THEN
		RETURN checked;
	ELSIF jsonb_typeof(hyperparams) <> 'object' THEN
		RAISE EXCEPTION 'hyperparams must be a JSON object' USING
			ERRCODE = 'invalid_parameter_value', DETAIL = format('Got a JSON %s.', jsonb_typeof(hyperparams));
	END IF;
	FOR item IN SELECT key, value FROM jsonb_each(hyperparams) ORDER BY key LOOP
		SELECT h.* INTO known FROM ml._hyperparams() h
		WHERE h.algorithm = _check_hyperparams.algorithm AND (h.name = item.key OR item.key = ANY (h.aliases));
		IF NOT FOUND THEN
			SELECT ml._nearest(item.key, array_agg(n.name)) INTO nearest
			FROM ml._hyperparams() h CROSS JOIN LATERAL unnest(h.aliases || h.name) AS n (name)
			WHERE h.algorithm = _check_hyperparams.algorithm;
			RAISE EXCEPTION 'hyper-parameter "%" of algorithm "%" is not known', item.key, _check_hyperparams.algorithm USING
				ERRCODE = 'invalid_parameter_value',
				HINT = coalesce('Did you mean: ' || nearest || '?', 'ml.list_algorithms() lists them.');
		ELSIF checked ? known.name THEN
			RAISE EXCEPTION 'hyper-parameter "%" is given twice', known.name USING
				ERRCODE = 'invalid_parameter_value', DETAIL = format('It is also called %s.', array_to_string(known.aliases, ', '));
		END IF;
		PERFORM ml._check_setting(format('hyper-parameter "%s"', item.key), item.value,
			known.kind, known.minimum, known.above, known.maximum, known.choices);
		checked := checked || jsonb_build_object(known.name, item.value);
	END LOOP;
	IF checked ? 'objective' AND (checked ->> 'objective' NOT IN ('binary:logistic', 'multi:softprob')) <> (task = 'regression') THEN
		RAISE EXCEPTION 'objective "%" does not suit task %', checked ->> 'objective', task USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN checked;
END
$$;

CREATE FUNCTION ml._list_algorithms(task text)
	RETURNS TABLE (algorithm text, task text, runtime text, available boolean, hyperparams jsonb)
	LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp
AS $$
	SELECT a.algorithm, t.task, a.runtime, a.available,
		coalesce((SELECT jsonb_object_agg(h.name, jsonb_strip_nulls(jsonb_build_object(
				'kind', h.kind, CASE WHEN h.above THEN 'above' ELSE 'min' END, h.minimum, 'max', h.maximum, 'default', h.default_value,
				'aliases', CASE WHEN h.aliases <> '{}' THEN to_jsonb(h.aliases) END, 'choices', to_jsonb(h.choices))))
			FROM ml._hyperparams() h WHERE h.algorithm = a.algorithm), '{}')
	FROM ml._algorithms() a CROSS JOIN LATERAL unnest(a.tasks) AS t (task)
	WHERE _list_algorithms.task IS NULL OR t.task = ml._check_task(_list_algorithms.task)
	ORDER BY a.available DESC, a.algorithm, t.task
$$;

CREATE FUNCTION ml.list_algorithms(task text DEFAULT NULL)
	RETURNS TABLE (algorithm text, task text, runtime text, available boolean, hyperparams jsonb)
	LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT * FROM ml._list_algorithms(list_algorithms.task);
END;

COMMENT ON FUNCTION ml.list_algorithms(text) IS
	'The algorithms of a task (NULL: of every task) with their hyper-parameters: kind, limits, default, other names.';
