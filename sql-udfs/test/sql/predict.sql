\set SHOW_CONTEXT never
-- No gateway runs here: what is refused before it is asked, and what is said when it is not there
CREATE TABLE flowers (id int PRIMARY KEY, petal real, colour text, kind text);
INSERT INTO flowers VALUES (1, 1.5, 'blue', 'iris'), (2, 2.5, 'red', 'rose');

-- Names
SELECT ml.predict('flowers', ARRAY[1, 2]);
SELECT ml.predict(NULL::text, ARRAY[1.0]);
SELECT ml.predict('', ARRAY[1.0]);
SELECT ml.predict(repeat('x', 300), ARRAY[1.0]);
SELECT ml.predict(-1, ARRAY[1.0]);
SELECT ml.predict(NULL::bigint, ROW(1));
SELECT ml.create_project('flowers', 'classification') AS project \gset
SELECT ml.predict('flower', ARRAY[1.0]);
SELECT ml.predict('flowers', ARRAY[1.0]);
INSERT INTO ml.models (model_id, project_id, algorithm, task, uri, sha256, bytes, format)
VALUES (2001, :project, 'xgboost', 'classification', 'store:flowers/1/1', repeat('a1', 32), 100, 'xgboost-ubj');
SELECT ml.predict('flowers', ARRAY[1.0]);
\echo :LAST_ERROR_SQLSTATE

-- A deployment is seen by the statements after it, and a rollback takes it back
PREPARE ask AS SELECT ml.predict('flowers', ARRAY[1.0]);
BEGIN;
INSERT INTO ml.deployments (project_id, model_id, strategy, deployed_by) VALUES (:project, 2001, 'specific', current_user);
SAVEPOINT deployed;
EXECUTE ask;
ROLLBACK TO deployed;
EXECUTE ask;
ROLLBACK;
EXECUTE ask;
INSERT INTO ml.deployments (project_id, model_id, strategy, deployed_by) VALUES (:project, 2001, 'specific', current_user);
EXECUTE ask;
-- A cursor keeps seeing what it saw when it was opened, whatever later statements have found
DELETE FROM ml.deployments;
BEGIN;
DECLARE before CURSOR FOR SELECT ml.predict('flowers', ARRAY[1.0]);
INSERT INTO ml.deployments (project_id, model_id, strategy, deployed_by) VALUES (:project, 2001, 'specific', current_user);
DECLARE after CURSOR FOR SELECT ml.predict('flowers', ARRAY[1.0]);
SAVEPOINT deployed;
EXECUTE ask;
ROLLBACK TO deployed;
FETCH before;
ROLLBACK TO deployed;
FETCH after;
COMMIT;
INSERT INTO ml.deployments (project_id, model_id, strategy, deployed_by) VALUES (:project, 2001, 'specific', current_user);
UPDATE ml.projects SET name = 'roses' WHERE name = 'flowers';
EXECUTE ask;
UPDATE ml.projects SET name = 'flowers' WHERE name = 'roses';
EXECUTE ask;

-- Every form reaches the gateway, which is away
\set VERBOSITY terse
SELECT ml.predict('flowers', ARRAY[1, 2]);
SELECT ml.predict('flowers', ARRAY[1, NULL]::real[]);
SELECT ml.predict('flowers', ROW(1, 'x'::text));
SELECT ml.predict('flowers', f) FROM flowers f;
SELECT ml.predict('flowers', s) FROM (SELECT petal, colour FROM flowers) s;
SELECT ml.predict('flowers', to_jsonb(f)) FROM flowers f;
SELECT ml.predict('flowers', '{"petal": 1, "colour": null, "nested": {"a": []}}'::jsonb);
SELECT ml.predict('flowers', '[1, 2, null]'::jsonb);
SELECT ml.predict(2001, ARRAY[1, 2]);
SELECT ml.predict(2001, f) FROM flowers f;
SELECT ml.predict_proba('flowers', ARRAY[1, 2]);
SELECT ml.predict_proba('flowers', f) FROM flowers f;
SELECT ml.predict_class('flowers', f) FROM flowers f;
SELECT ml.predict_class('flowers', ARRAY[1, 2]);
SELECT ml.predict_class('flowers', ARRAY[1.5, 2]::numeric[]);
SELECT ml.predict_class('flowers', '{"petal": 1}'::jsonb);
SELECT ml.predict_batch('flowers', ARRAY[[1, 2], [3, 4]]);
SELECT * FROM ml.predict_batch('flowers', 'flowers', 'id');
SELECT ml.preprocess('flowers', f) FROM flowers f;
SELECT ml.deploy(2001);
-- A dropped column leaves a hole in the row
ALTER TABLE flowers ADD COLUMN height int, ADD COLUMN width int;
ALTER TABLE flowers DROP COLUMN height;
SELECT ml.predict('flowers', f) FROM flowers f;
SELECT ml.predict(2001, f) FROM flowers f;
SELECT ml.predict_class('flowers', f) FROM flowers f;
SELECT * FROM ml.predict_batch('flowers', 'flowers', 'id');
SELECT ml.preprocess('flowers', f) FROM flowers f;
ALTER TABLE flowers DROP COLUMN width;
\set VERBOSITY default

-- Features that cannot be
SELECT ml.predict('flowers', ARRAY[[1, 2], [3, 4]]);
SELECT ml.predict('flowers', '3'::jsonb);
SELECT ml.predict('flowers', '"petal"'::jsonb);
SELECT ml.predict('flowers', 'null'::jsonb);
SELECT ml.predict('flowers', '[1, "x"]'::jsonb);
SELECT ml.predict('flowers', ROW(1, ARRAY[1]));
SELECT ml.predict_class('flowers', 'text'::text);
SELECT ml.predict_class('flowers', 3);
SELECT ml.predict_class('flowers', ARRAY['a', 'b']);
SELECT ml.predict_batch('flowers', ARRAY[[[1]]]);
SELECT ml.predict_batch('flowers', NULL);
SELECT * FROM ml.predict_batch('flowers', '{}'::float8[]);
SELECT ml.predict_batch('flowers', 'flowers', 'idd');
SELECT ml.predict_batch('flowers', 'flowers', NULL);
SELECT ml.predict_batch('flowers', NULL, 'id');
SELECT ml.predict_batch('flowers', 0::regclass, 'id');
SELECT ml.predict_batch('flowers', 'flowers', 'id', 0);
SELECT ml.predict_batch('flowers', 'flowers', 'id', 65537);
SELECT ml.predict_batch('flowers', 'flowers', 'id', NULL);

-- Ambiguous arguments need a cast
SELECT ml.predict('flowers', '{1,2}');
SELECT ml.predict('flowers', NULL);

-- NULL features: an error, or NULL and one warning, as the session or the project says
SELECT ml.predict('flowers', NULL::float8[]);
\echo :LAST_ERROR_SQLSTATE
SET ml.on_error = 'null';
SELECT ml.predict('flowers', NULL::float8[]);
SELECT count(ml.predict('flowers', NULL::jsonb)) FROM generate_series(1, 5);
UPDATE ml.projects SET options = '{"on_error": "abort"}';
SELECT ml.predict('flowers', NULL::float8[]);
RESET ml.on_error;
UPDATE ml.projects SET options = '{"on_error": "null"}';
SELECT ml.predict('flowers', NULL::float8[]);
-- The task goes first
SELECT ml.define_task('flowers', 'flowers', 'kind', options => '{"on_error": "abort"}') > 0 AS defined;
SELECT ml.predict('flowers', NULL::float8[]);
SELECT ml.predict(2001, NULL::float8[]);
SELECT ml.define_task('flowers', 'flowers', 'kind', options => '{"on_error": "null"}') > 0 AS defined;
UPDATE ml.projects SET options = '{"on_error": "abort"}';
SELECT ml.predict('flowers', NULL::float8[]);
SELECT ml.predict(2001, NULL::float8[]);
DELETE FROM ml.tasks;
SELECT ml.predict('flowers', NULL::float8[]);

-- The gateway's absence in full
SELECT ml.predict('flowers', ARRAY[1, 2]);
\echo :LAST_ERROR_SQLSTATE
SELECT worker, alive, pid, version FROM ml.worker_status();
SELECT ml._echo('x');

DEALLOCATE ask;
SELECT ml.drop_project('flowers');
DROP TABLE flowers;
