\set SHOW_CONTEXT never
-- Limits of projects: who sets them, what is refused, and what requests say of them
LOAD 'millrace';
CREATE ROLE lim_owner IN ROLE ml_user;
CREATE ROLE lim_other IN ROLE ml_user;
CREATE ROLE lim_admin IN ROLE ml_admin;
CREATE ROLE lim_nobody;
GRANT CREATE ON SCHEMA public TO lim_owner;
CREATE FUNCTION gateway_start(mute boolean) RETURNS void AS 'millrace_test' LANGUAGE C;
CREATE FUNCTION gateway_stop() RETURNS void AS 'millrace_test' LANGUAGE C;
CREATE FUNCTION gateway_limits() RETURNS bigint AS 'millrace_test' LANGUAGE C;
CREATE FUNCTION gateway_bulk() RETURNS boolean AS 'millrace_test' LANGUAGE C;

-- Only who may use a project sees and sets its limits
SET ROLE lim_owner;
SELECT ml.create_project('limited', 'regression') AS project \gset
INSERT INTO ml.limits (project_id, requests_per_second) VALUES (:project, 100);
SELECT requests_per_second, rows_per_second, concurrent_requests, on_limit FROM ml.limits;
SET ROLE lim_other;
SELECT count(*) FROM ml.limits;
UPDATE ml.limits SET requests_per_second = NULL;
DELETE FROM ml.limits;
\set VERBOSITY terse
DO $$ BEGIN INSERT INTO ml.limits (project_id) SELECT max(project_id) FROM ml.limits; EXCEPTION WHEN OTHERS THEN RAISE NOTICE '%', SQLERRM; END $$;
\set VERBOSITY sqlstate
INSERT INTO ml.limits (project_id, requests_per_second) VALUES (:project, 1);
SET ROLE lim_nobody;
SELECT count(*) FROM ml.limits;
\set VERBOSITY default
SET ROLE lim_admin;
UPDATE ml.limits SET rows_per_second = 1000;
SELECT requests_per_second, rows_per_second FROM ml.limits;

-- What is no limit is refused by name
SET ROLE lim_owner;
UPDATE ml.limits SET requests_per_second = 0;
UPDATE ml.limits SET rows_per_second = 10000001;
UPDATE ml.limits SET concurrent_requests = -1;
UPDATE ml.limits SET on_limit = 'queue';
UPDATE ml.limits SET on_limit = NULL;
UPDATE ml.limits SET merge_window_us = 100001;
INSERT INTO ml.limits (project_id) VALUES (-1);
INSERT INTO ml.limits (project_id) VALUES (NULL);
RESET ROLE;
DELETE FROM ml.limits;

-- A request names the limits that its transaction sees; one that is rolled back is never named again
INSERT INTO ml.models (model_id, project_id, algorithm, task, uri, sha256, bytes, format)
VALUES (7001, :project, 'xgboost', 'regression', 'store:limited/1/1', repeat('c3', 32), 100, 'xgboost-ubj');
INSERT INTO ml.deployments (project_id, model_id, strategy, deployed_by) VALUES (:project, 7001, 'specific', current_user);
CREATE TABLE limited AS SELECT 1 AS id, 0.5 AS x;
SELECT '/tmp/millrace-' || pg_backend_pid() AS directory \gset
\setenv REGION :directory
\! mkdir -m 700 "$REGION"
SET ml.region_dir = :'directory';
SELECT gateway_start(false);
PREPARE ask AS SELECT prediction FROM ml.predict_batch('limited', 'limited', 'id');
EXECUTE ask;
SELECT gateway_limits(), gateway_bulk();
BEGIN;
INSERT INTO ml.limits VALUES (:project, 100, NULL, 5, 'wait');
EXECUTE ask;
SELECT gateway_limits();
ROLLBACK;
EXECUTE ask;
SELECT gateway_limits();
INSERT INTO ml.limits VALUES (:project, 100, NULL, 5, 'wait');
EXECUTE ask;
SELECT gateway_limits();
BEGIN;
UPDATE ml.limits SET on_limit = 'reject';
EXECUTE ask;
SELECT gateway_limits() NOT IN (0, -5896713761818372443) AS changed;
SAVEPOINT before;
DELETE FROM ml.limits;
EXECUTE ask;
SELECT gateway_limits();
ROLLBACK TO before;
EXECUTE ask;
SELECT gateway_limits() NOT IN (0, -5896713761818372443) AS changed;
ROLLBACK;
EXECUTE ask;
SELECT gateway_limits();
-- By another session, while this one holds a snapshot
BEGIN ISOLATION LEVEL REPEATABLE READ;
EXECUTE ask;
\! psql -X -q -d regression -c "UPDATE ml.limits SET requests_per_second = NULL, concurrent_requests = NULL"
EXECUTE ask;
SELECT gateway_limits();
COMMIT;
EXECUTE ask;
SELECT gateway_limits();
-- A merge window is no limit, and goes the same way
UPDATE ml.limits SET merge_window_us = 0, on_limit = 'reject';
EXECUTE ask;
SELECT gateway_limits() = 4672095441862941765 AS none;
UPDATE ml.limits SET requests_per_second = 100, concurrent_requests = 5, on_limit = 'wait', merge_window_us = 200;
EXECUTE ask;
SELECT gateway_limits() = -7637793039997868531 AS merging;
SELECT gateway_stop();
\! rm -r "$REGION"
SELECT ml.drop_project('limited');
SELECT count(*) FROM ml.limits;
DROP TABLE limited;
DROP FUNCTION gateway_start, gateway_stop, gateway_limits, gateway_bulk;
REVOKE CREATE ON SCHEMA public FROM lim_owner;
DROP ROLE lim_owner, lim_other, lim_admin, lim_nobody;
