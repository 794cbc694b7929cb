\set SHOW_CONTEXT never
-- Notices name the snapshot trained on, whose number depends on the tests before
SET client_min_messages = warning;
CREATE TABLE visits (id int PRIMARY KEY, pages int, bought boolean);
SELECT run_id AS first FROM ml.train('visits', 'classification', 'visits', 'bought', 'xgboost') \gset
SELECT run_id AS second FROM ml.train('visits', algorithm => 'xgboost') \gset
-- Status
SELECT run_id - :first AS run, project, algorithm, status, progress, phase, flink_job_id, model_id, metrics, error, started_at, finished_at FROM ml.run_status();
SELECT run_id - :first AS run FROM ml.run_status(:second);
SELECT count(*) FROM ml.run_status(project_name => 'visits');
SELECT count(*) FROM ml.run_status(:first, 'visits');
SELECT * FROM ml.run_status(-1);
SELECT * FROM ml.run_status(project_name => 'visit');

-- Cancelled in the queue: at once, and only once
SELECT ml.cancel_run(:first);
SELECT status, finished_at IS NOT NULL AS ended FROM ml.run_status(:first);
SELECT ml.cancel_run(:first);
SELECT ml.cancel_run(-1);
SELECT ml.cancel_run(NULL);

-- Cancelled while it runs: the dispatcher does it
UPDATE ml.runs SET status = 'training', progress = 0.3 WHERE run_id = :second;
\set VERBOSITY sqlstate
SELECT ml.drop_project('visits');
\set VERBOSITY default
SELECT ml.cancel_run(:second);
SELECT status, cancel_requested FROM ml.runs WHERE run_id = :second;

-- Waiting: ended, and not within the timeout
SELECT ml.wait_run(:first);
SELECT ml.wait_run(:second, '50 milliseconds');
SELECT ml.wait_run(:second, '-1 second');
SELECT ml.wait_run(-1);
SELECT ml.wait_run(NULL);
BEGIN;
SELECT run_id AS third FROM ml.train('visits', algorithm => 'xgboost') \gset
\set VERBOSITY sqlstate
SELECT ml.wait_run(:third);
ROLLBACK;
BEGIN;
SAVEPOINT before;
SELECT run_id AS third FROM ml.train('visits', algorithm => 'xgboost') \gset
SAVEPOINT after;
SELECT ml.wait_run(:third);
ROLLBACK TO after;
RELEASE before;
SELECT ml.wait_run(:third);
\set VERBOSITY default
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT ml.wait_run(:second);
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT ml.wait_run(:first);
COMMIT;
-- Waiting can be interrupted
SET statement_timeout = '100ms';
SELECT ml.wait_run(:second);
RESET statement_timeout;

UPDATE ml.runs SET status = 'succeeded' WHERE run_id = :second;
SELECT ml.wait_run(:second);
SELECT ml.drop_project('visits');
SELECT count(*) FROM ml.run_status();
SELECT ml.release_all();
DROP TABLE visits;
