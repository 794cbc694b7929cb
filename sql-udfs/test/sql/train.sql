\set SHOW_CONTEXT never
-- Notices name the snapshot trained on, whose number depends on the tests before
SET client_min_messages = warning;
CREATE TABLE churn (id int PRIMARY KEY, minutes real, plan text, churned text, paid numeric);
CREATE TABLE other_churn (id int PRIMARY KEY, minutes real, plan text, churned text);
CREATE VIEW left_behind AS
	SELECT (SELECT count(*) FROM ml.projects) AS projects, (SELECT count(*) FROM ml.tasks) AS tasks, (SELECT count(*) FROM ml.runs) AS runs,
		(SELECT count(*) FROM ml.snapshots WHERE relation LIKE '%churn') AS snapshots,
		(SELECT count(*) FROM ml.snapshot_requests WHERE relation LIKE '%churn') AS requests,
		(SELECT count(*) FROM ml.captured_tables) AS captured, (SELECT count(*) FROM pg_publication) AS publications;

-- Failures leave nothing behind
SELECT ml.train('churn');
SELECT ml.train('churn', 'clasification', 'churn', 'churned', 'xgboost');
SELECT ml.train('churn', 'classification');
SELECT ml.train('churn', 'classification', 'churn');
SELECT ml.train('churn', 'classification', 'churn', 'churnd', 'xgboost');
SELECT ml.train('churn', 'classification', 'churn', 'churned', 'xgboost', test_sampling => 'systematic');
SELECT ml.train('churn', 'classification', 'churn', 'churned', 'xgboost', test_size => 1.5);
SELECT ml.train('churn', 'classification', 'churn', 'churned', 'xgboost', runtime => 'python');
SELECT ml.train('churn', 'classification', 'churn', 'churned', 'xgboost', search => 'grid');
SELECT ml.train('churn', 'classification', 'churn', 'churned', 'xgboost', search_params => '{"max_depth": [1, 2]}');
SELECT ml.train('churn', 'classification', 'churn', 'churned', 'xgboost', preprocess => '{"plan": {"encode": "hash"}}');
SELECT ml.train('churn', 'classification', 'churn', 'churned', 'xgboost', snapshot_id => -1);
SELECT ml.train('churn', 'classification', 'churn', 'paid', 'xgboost');
SELECT ml.train('churn', 'regression', 'churn', 'plan', 'xgboost');
SELECT ml.train(NULL, 'regression', 'churn', 'paid', 'xgboost');
SELECT ml.train('', 'regression', 'churn', 'paid', 'xgboost');
SELECT * FROM left_behind;
BEGIN;
SELECT status FROM ml.train('churn', 'classification', 'churn', 'churned', 'xgboost');
SELECT * FROM left_behind;
ROLLBACK;
SELECT * FROM left_behind;

-- A new project
SELECT project, task, algorithm, deployed, status FROM ml.train('churn', 'Classification', 'churn', 'churned', 'xgboost');
SELECT r.status, r.progress, r.test_size, r.test_sampling, r.seed, r.automatic_deploy, r.attempt, r.cancel_requested, r.owner = current_user AS mine FROM ml.runs r;
SELECT * FROM left_behind;

-- The same again needs no more than the name, and trains on the same snapshot
SELECT project, task, algorithm, deployed, status FROM ml.train('churn', algorithm => 'xgboost', automatic_deploy => false, test_sampling => 'last', test_size => 0.1);
SELECT count(DISTINCT snapshot_id) FROM ml.runs;
SELECT test_size, test_sampling, automatic_deploy FROM ml.runs ORDER BY run_id DESC LIMIT 1;

-- A new snapshot: when asked for, with other preprocessing, for other features, of another label
SELECT status FROM ml.train('churn', algorithm => 'xgboost', materialize_snapshot => true);
SELECT status FROM ml.train('churn', algorithm => 'xgboost', preprocess => '{"plan": {"encode": "one-hot"}}');
SELECT ml.define_task('churn', 'churn', 'churned', '{minutes}') > 0 AS defined;
SELECT status FROM ml.train('churn', algorithm => 'xgboost');
SELECT status FROM ml.train('churn', y_column_name => 'plan', algorithm => 'xgboost');
SELECT count(DISTINCT snapshot_id), count(*) FROM ml.runs;
SELECT y_column_name, features FROM ml.tasks;

-- A named snapshot
SELECT max(snapshot_id) AS latest, min(snapshot_id) AS first FROM ml.snapshots \gset
SELECT status FROM ml.train('churn', algorithm => 'xgboost', snapshot_id => :latest);
SELECT r.snapshot_id = :latest AS named FROM ml.runs r ORDER BY run_id DESC LIMIT 1;
UPDATE ml.snapshots SET status = 'failed', error = 'label has one class' WHERE snapshot_id = :latest;
\set VERBOSITY sqlstate
SELECT ml.train('churn', algorithm => 'xgboost', snapshot_id => :latest);
SELECT ml.train('churn', algorithm => 'xgboost', snapshot_id => :first);
\set VERBOSITY default
-- A failed one is not trained on
SELECT status FROM ml.train('churn', algorithm => 'xgboost');
SELECT r.snapshot_id > :latest AS new FROM ml.runs r ORDER BY run_id DESC LIMIT 1;

-- Another task under the same name
SELECT ml.train('churn', 'regression', 'churn', 'paid', 'xgboost');
\echo :LAST_ERROR_SQLSTATE
-- Another table under the same name; the first is kept while runs need it
SELECT status FROM ml.train('churn', NULL, 'other_churn', 'churned', 'xgboost');
SELECT relation, status FROM ml.captured_tables ORDER BY relation;
SELECT ml.release_table('churn');
SELECT relation, status FROM ml.captured_tables ORDER BY relation;
SELECT DISTINCT relation, status, error FROM ml.snapshots WHERE relation IN ('public.churn', 'public.other_churn') ORDER BY relation, error;

-- A regression has no classes to stratify by
SELECT task, status FROM ml.train('paid', 'regression', 'churn', 'paid', 'xgboost');
SELECT test_sampling FROM ml.runs ORDER BY run_id DESC LIMIT 1;

-- Names
SELECT project, status FROM ml.train('it''s "1.5" 🌾', 'regression', 'churn', 'paid', 'xgboost');

SELECT bool_and(ml.drop_project(name)) FROM ml.list_projects();
SELECT projects, tasks, runs, captured FROM left_behind;
SELECT ml.release_all();
DROP VIEW left_behind;
DROP TABLE churn, other_churn;
