\set SHOW_CONTEXT never
-- Models come from training; here their rows are written by hand. No gateway runs, so nothing can be loaded.
CREATE TABLE points (id int PRIMARY KEY, x real, y real);
SELECT ml.create_project('points', 'regression') AS project, ml.define_task('points', 'points', 'y') > 0 AS defined \gset
INSERT INTO ml.models (model_id, project_id, algorithm, task, metrics, uri, sha256, bytes, format)
SELECT n, :project, 'xgboost', 'regression', metrics::jsonb, 'store:points/1/' || n, encode(sha256(n::text::bytea), 'hex'), 100, 'xgboost-ubj'
FROM (VALUES (1001, '{"r2": -12.0}'), (1002, '{"r2": -0.5}'), (1003, '{}'), (1004, '{"r2": "NaN"}'), (1005, '{"r2": -3}')) AS m (n, metrics);
SELECT model_id, project, algorithm, deployed, metrics, uri, bytes, format FROM ml.list_models('points');
SELECT count(*) FROM ml.list_models();
SELECT ml.list_models('nobody');

-- The choice
SELECT (ml._choose_model(p, 'best_score', NULL)).model_id AS best, (ml._choose_model(p, 'most_recent', NULL)).model_id AS latest,
	(ml._choose_model(p, 'best_score', 'xgb')).model_id AS best_xgboost FROM ml.projects p;
SELECT ml._choose_model(p, 'rollback', NULL) FROM ml.projects p;
SELECT ml._score('regression', '{"r2": 0.5, "f1": 0.9}'), ml._score('classification', '{"r2": 0.5, "f1": 0.9}'), ml._score('classification', '{}');

-- Nothing is deployed without the gateway
SELECT ml.deploy(1002);
\echo :LAST_ERROR_SQLSTATE
SELECT ml.deploy('points');
SELECT count(*) FROM ml.deployments;

-- Rejected
SELECT ml.deploy(NULL::bigint);
SELECT ml.deploy(-1);
SELECT ml.deploy('points', 'worst_score');
SELECT ml.deploy('points', NULL);
SELECT ml.deploy('points', 'rollback');
SELECT ml.deploy('points', 'best_score', 'xgbost');
SELECT ml.deploy('points', 'best_score', 'lightgbm');
SELECT ml.deploy('nobody');
SELECT ml.create_project('empty', 'regression') > 0 AS made;
SELECT ml.deploy('empty');
SELECT ml.deploy('empty', 'most_recent', 'xgboost');

-- A rollback undoes the latest deployment, the next one the one before
CREATE FUNCTION history(variadic steps text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	step text;
BEGIN
	TRUNCATE ml.deployments;
	FOREACH step IN ARRAY steps LOOP
		INSERT INTO ml.deployments (project_id, model_id, strategy, deployed_by)
		SELECT project_id, CASE step WHEN 'back' THEN ml._rollback_target(project_id) ELSE 1000 + step::int END,
			CASE step WHEN 'back' THEN 'rollback' ELSE 'specific' END, current_user
		FROM ml.projects WHERE name = 'points';
	END LOOP;
	RETURN (SELECT ml._rollback_target(project_id) FROM ml.projects WHERE name = 'points');
END
$$;
SELECT history('1');
SELECT history('1', '2');
SELECT history('1', '2', '3', 'back');
SELECT history('1', '2', '3', 'back', 'back');
SELECT history('1', '2', 'back', '3');
SELECT history('1', '1', '1');
SELECT history('1', '2', '1');
SELECT deployed_model_id FROM ml.list_projects('points');

SELECT bool_and(ml.drop_project(name)) FROM ml.list_projects();
SELECT count(*) FROM ml.models;
DROP FUNCTION history;
DROP TABLE points;
