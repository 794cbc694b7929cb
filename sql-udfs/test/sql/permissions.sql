\set SHOW_CONTEXT never
-- Notices name the snapshot trained on, whose number depends on the tests before
SET client_min_messages = warning;
CREATE ROLE ann IN ROLE ml_user;
CREATE ROLE bob IN ROLE ml_user;
CREATE ROLE team IN ROLE ml_user;
CREATE ROLE member IN ROLE team;
CREATE ROLE admin IN ROLE ml_admin;
CREATE ROLE worker IN ROLE ml_worker;
CREATE ROLE stranger;
GRANT CREATE, USAGE ON SCHEMA public TO ann, bob, team;
SET ROLE ann;
CREATE TABLE anns (id int PRIMARY KEY, x int, y text);
SELECT status FROM ml.train('anns', 'classification', 'anns', 'y', 'xgboost');
SELECT owner FROM ml.list_projects();
SELECT requested_by FROM ml.captured_tables;

-- Another user neither sees nor touches it
SET ROLE bob;
SELECT count(*) FROM ml.list_projects();
SELECT count(*) FROM ml.run_status();
SELECT count(*) FROM ml.list_snapshots();
SELECT count(*) FROM ml.list_models();
SELECT ml.predict('anns', ARRAY[1.0]);
SELECT ml.predict_batch('anns', ARRAY[1.0]);
SELECT ml.describe_task('anns');
SELECT ml.train('anns', algorithm => 'xgboost');
SELECT ml.create_project('anns', 'classification');
SELECT ml.drop_project('anns');
SELECT ml.drop_project('anns', true);
SELECT ml.deploy('anns');
SELECT ml.snapshot('anns'::text);
SELECT ml.define_task('anns', 'anns', 'y');
SELECT ml.release_all();
\set VERBOSITY terse
RESET ROLE;
SELECT run_id, snapshot_id FROM ml.runs \gset
INSERT INTO ml.models (model_id, project_id, algorithm, task, uri, sha256, bytes, format)
SELECT 3001, project_id, 'xgboost', 'classification', 'store:x/1/1', repeat('00', 32), 1, 'xgboost-ubj' FROM ml.projects;
\set VERBOSITY sqlstate
SET ROLE bob;
SELECT ml.run_status(:run_id);
SELECT ml.cancel_run(:run_id);
SELECT ml.wait_run(:run_id);
SELECT ml.refresh_snapshot(:snapshot_id);
SELECT ml.deploy(3001);
SELECT ml.predict(3001, ARRAY[1.0]);
\set VERBOSITY default

-- A table that one may not read is not trained on, and not captured
SELECT ml.train('bobs', 'classification', 'anns', 'y', 'xgboost');
SELECT ml.snapshot('anns', 'y');
SELECT ml.release_table('anns');
RESET ROLE;
GRANT SELECT ON anns TO bob;
SET ROLE bob;
SELECT status FROM ml.train('bobs', 'classification', 'anns', 'y', 'xgboost');
SELECT ml.drop_project('bobs');
-- To read it is not enough to capture it: that alters the table
SET ROLE ann;
CREATE TABLE more (id int PRIMARY KEY, x int, y text);
GRANT SELECT ON more TO bob, admin;
SET ROLE bob;
SELECT ml.snapshot('more', 'y');
SELECT ml.train('bobs', 'classification', 'more', 'y', 'xgboost');
SELECT relation FROM ml.list_snapshots() WHERE relation = 'public.more';
SET ROLE admin;
SELECT status FROM ml.snapshot('more', 'y');
SET ROLE bob;
SELECT status FROM ml.snapshot('more', 'y');
SET ROLE ann;
SELECT ml.release_table('more');
SET ROLE bob;
SELECT ml.snapshot('more', 'y');
SET ROLE ann;
DROP TABLE more;
-- Row-level security hides rows from a reader, but not from the stream
SET ROLE ann;
ALTER TABLE anns ENABLE ROW LEVEL SECURITY;
SET ROLE bob;
SELECT ml.snapshot('anns', 'y');
SET ROLE ann;
SELECT status FROM ml.snapshot('anns', 'y');
ALTER TABLE anns DISABLE ROW LEVEL SECURITY;

-- The internal functions and tables are out of reach, and a caller cannot be made up
SET ROLE bob;
SELECT * FROM ml.projects;
INSERT INTO ml.deployments (project_id, model_id, strategy, deployed_by) VALUES (1, 1, 'specific', 'bob');
SELECT ml._release_everything();
SELECT ml._load_model(3001);
SELECT ml._echo('x');
SELECT ml._role(ml.caller());
SELECT '10'::ml.caller;
SELECT ml._drop_project(10::oid::text::ml.caller, 'anns', false);
SELECT ml._drop_project(ml.caller(), 'anns', false);
CREATE TABLE kept (caller ml.caller);
INSERT INTO kept VALUES (ml.caller());
SELECT * FROM kept, LATERAL ml._list_projects(kept.caller, '%');
DROP TABLE kept;

-- A function of ann's lets others predict with her rights, as any function would
SET ROLE ann;
CREATE FUNCTION for_all() RETURNS float8 LANGUAGE sql SECURITY DEFINER AS $$ SELECT ml.predict('anns', ARRAY[1.0]) $$;
SET ROLE bob;
SELECT for_all();

-- A group owns together
SET ROLE team;
SELECT ml.create_project('teams', 'regression') > 0 AS made;
SET ROLE member;
SELECT name, owner FROM ml.list_projects();
SELECT ml.drop_project('teams');

-- Administrators and workers see all; workers write what training and the stream write
SET ROLE admin;
SELECT name, owner FROM ml.list_projects();
SELECT count(*) > 0 AS some FROM ml.runs;
UPDATE ml.runs SET status = 'failed';
SELECT ml.cancel_run(:run_id);
SET ROLE worker;
SELECT name FROM ml.list_projects();
UPDATE ml.runs SET status = 'failed', error = 'test' WHERE run_id = :run_id;
UPDATE ml.snapshots SET status = 'ready' WHERE snapshot_id = :snapshot_id;
INSERT INTO ml.models (project_id, run_id, algorithm, task, uri, sha256, bytes, format)
SELECT project_id, run_id, algorithm, task, 'store:x/1/2', repeat('00', 32), 1, 'xgboost-ubj' FROM ml.runs WHERE run_id = :run_id;
INSERT INTO ml.projects (name, task, owner) VALUES ('workers', 'regression', 'worker');
SELECT count(*) FROM anns;
CREATE TABLE ml_lake.catalog_test (a int);
DROP TABLE ml_lake.catalog_test;
SELECT ml.deploy('anns', 'most_recent');

-- A stranger is kept out of the schema
SET ROLE stranger;
SELECT ml.list_projects();

-- An owner that was dropped: administrators still reach the project
RESET ROLE;
SET ROLE bob;
SELECT ml.create_project('orphan', 'regression') > 0 AS made;
RESET ROLE;
REVOKE ALL ON anns FROM bob;
REVOKE ALL ON SCHEMA public FROM bob;
DROP ROLE bob;
SET ROLE ann;
SELECT name FROM ml.list_projects();
SET ROLE admin;
SELECT name, owner FROM ml.list_projects();
SELECT bool_and(ml.drop_project(name)) FROM ml.list_projects();
RESET ROLE;
SELECT ml.release_all();
DROP FUNCTION for_all;
DROP TABLE anns;
REVOKE ALL ON SCHEMA public FROM ann, team;
DROP ROLE ann, team, member, admin, worker, stranger;
