\set SHOW_CONTEXT never
SELECT algorithm, task, runtime, available FROM ml.list_algorithms();
SELECT algorithm, task FROM ml.list_algorithms('Regression') WHERE available;
SELECT jsonb_pretty(hyperparams - ARRAY(SELECT key FROM jsonb_object_keys(hyperparams) AS key WHERE key NOT IN ('n_estimators', 'eta', 'grow_policy')))
FROM ml.list_algorithms('classification') WHERE algorithm = 'xgboost';
SELECT * FROM ml.list_algorithms('ranking');

CREATE TABLE houses (id int PRIMARY KEY, area real, kind text, price real, sold boolean);
CREATE FUNCTION train_with(algorithm text, hyperparams jsonb, task text DEFAULT 'regression') RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	run bigint;
BEGIN
	SELECT run_id INTO run FROM ml.train('houses ' || task, task, 'houses', CASE task WHEN 'regression' THEN 'price' ELSE 'sold' END, algorithm, hyperparams);
	RETURN (SELECT to_jsonb(r) FROM (SELECT r.algorithm, r.objective, r.seed, r.hyperparams FROM ml.runs r WHERE r.run_id = run) r);
END
$$;
SET client_min_messages = warning;

-- Other names of an algorithm and of its hyper-parameters
SELECT train_with('xgboost', '{}');
SELECT train_with('XGB', '{"learning_rate": 0.1, "num_boost_round": 20, "reg_lambda": 2, "reg_alpha": 0.5, "min_split_loss": 1}');
SELECT train_with('gradient_boosting', '{"n_estimators": 5, "random_state": 7, "objective": "reg:absoluteerror", "grow_policy": "lossguide"}');
SELECT train_with('xgboost', '{"objective": "binary:logistic", "max_depth": 3.0}', 'classification');
SELECT train_with('xgboost', NULL);

-- Unknown and unavailable algorithms
SELECT train_with('xgbost', '{}');
SELECT train_with('', '{}');
SELECT train_with('lightgbm', '{}');
SELECT train_with('Random_Forest', '{}');
\echo :LAST_ERROR_SQLSTATE
-- The default stands for what is available
RESET client_min_messages;
SELECT algorithm FROM ml.train('houses regression', materialize_snapshot => true);
SET client_min_messages = warning;
SELECT train_with('linear', '{}') ->> 'algorithm';

-- Rejected hyper-parameters
SELECT train_with('xgboost', '[]');
SELECT train_with('xgboost', '{"max_dept": 3}');
SELECT train_with('xgboost', '{"learningrate": 0.3}');
SELECT train_with('xgboost', '{"booster": "dart"}');
SELECT train_with('xgboost', '{"eta": 0.1, "learning_rate": 0.1}');
SELECT train_with('xgboost', '{"n_estimators": 0}');
SELECT train_with('xgboost', '{"n_estimators": 10.5}');
SELECT train_with('xgboost', '{"n_estimators": "10"}');
SELECT train_with('xgboost', '{"n_estimators": null}');
SELECT train_with('xgboost', '{"n_estimators": 1e300}');
SELECT train_with('xgboost', '{"max_depth": 33}');
SELECT train_with('xgboost', '{"eta": 0}');
SELECT train_with('xgboost', '{"eta": 1.0000001}');
SELECT train_with('xgboost', '{"subsample": -0.5}');
SELECT train_with('xgboost', '{"lambda": -1}');
SELECT train_with('xgboost', '{"max_bin": true}');
SELECT train_with('xgboost', '{"grow_policy": "depth"}');
SELECT train_with('xgboost', '{"seed": -1}');
SELECT train_with('xgboost', '{"objective": "rank:ndcg"}');
SELECT train_with('xgboost', '{"objective": "binary:logistic"}');
SELECT train_with('xgboost', '{"objective": "reg:squarederror"}', 'classification');

SELECT bool_and(ml.drop_project(name)) FROM ml.list_projects();
DROP TABLE houses;
DROP FUNCTION train_with;
