\set SHOW_CONTEXT never
-- Models from elsewhere. No gateway runs, so the arguments are checked and nothing comes in.
CREATE TABLE shapes (id int PRIMARY KEY, w real, h real, name text, area real);
SELECT ml.create_project('plain', 'regression') > 0 AS plain, ml.create_project('shapes', 'regression') > 0 AS shapes,
	ml.define_task('shapes', 'shapes', 'area') > 0 AS defined;

-- Rejected
SELECT ml.import_model(NULL, 'file:/m.onnx');
SELECT ml.import_model('nobody', 'file:/m.onnx');
SELECT ml.import_model('plain', NULL);
SELECT ml.import_model('plain', '');
SELECT ml.import_model('plain', 'file:/m.onnx', 'pickle');
SELECT ml.import_model('plain', 'file:/m.onnx', NULL);
SELECT ml.import_model('plain', 'file:/m.onnx', sha256 => 'abc');
SELECT ml.import_model('plain', 'file:/m.onnx', options => '[]');
SELECT ml.import_model('plain', 'file:/m.onnx', options => '{"feature": ["a"]}');
SELECT ml.import_model('plain', 'file:/m.onnx', options => '{"features": "a"}');
SELECT ml.import_model('plain', 'file:/m.onnx', options => '{"features": []}');
SELECT ml.import_model('plain', 'file:/m.onnx', options => '{"labels": [1, 2]}');
SELECT ml.import_model('plain', 'file:/m.onnx', options => '{"output": 1}');
SELECT ml.import_model('plain', 'file:/m.onnx', options => '{"scores": "odds"}');
SELECT ml.import_model('plain', 'file:/m.onnx', snapshot_id => -1);
SELECT ml.import_model('plain', 'file:/m.onnx', snapshot_id => 1, options => '{"features": ["a"]}');

-- A task needs a snapshot that is ready and has its preprocessing at hand
SELECT ml.import_model('shapes', 'file:/m.onnx');
SELECT setval('ml.snapshots_snapshot_id_seq', 9000, false);
SELECT snapshot_id FROM ml.snapshot('shapes', 'area') \gset
SELECT snapshot_id AS other_id FROM ml.snapshot('shapes', 'w') \gset
\set VERBOSITY terse
SELECT ml.import_model('shapes', 'file:/m.onnx', snapshot_id => :snapshot_id) AS "not ready";
SELECT ml.import_model('shapes', 'file:/m.onnx', snapshot_id => :other_id) AS "another label";
UPDATE ml.snapshots SET status = 'ready', fitted_id = repeat('a', 64) WHERE snapshot_id = :snapshot_id;
SELECT ml.import_model('shapes', 'file:/m.onnx') AS "no preprocessing";
\set VERBOSITY default
UPDATE ml.snapshots SET fitted = '{"format-version": 1}' WHERE snapshot_id = :snapshot_id;

-- What is checked here passes; then the gateway is asked
SELECT ml.import_model('shapes', 'file:/m.onnx');
\echo :LAST_ERROR_SQLSTATE
SELECT ml.import_model('shapes', 'file:/m.onnx', 'ONNX', repeat('AB', 32), options => '{"features": ["w", "h"], "scores": "logit"}');
SELECT ml.import_model('plain', 'store:import.d/m.onnx', options => NULL);
SELECT count(*) FROM ml.models;

-- Only the owner's
CREATE ROLE importer IN ROLE ml_user;
SET ROLE importer;
SELECT ml.import_model('plain', 'file:/m.onnx');
SELECT ml._ask_import('{}');
RESET ROLE;
DROP ROLE importer;

SELECT bool_and(ml.drop_project(name)) FROM ml.list_projects();
DELETE FROM ml.snapshots WHERE relation = 'public.shapes';
SELECT ml.release_all() >= 0 AS released;
DROP TABLE shapes;
