\set SHOW_CONTEXT never
SET client_min_messages = warning;
-- A dump carries projects, runs, models and deployments; its restore makes the publication and goes on counting
CREATE SCHEMA shop;
CREATE TABLE shop."Orders" (id int PRIMARY KEY, amount numeric(8, 2), kind text, late boolean);
INSERT INTO shop."Orders" SELECT i, i * 1.5, 'kind ' || i % 3, i % 4 = 0 FROM generate_series(1, 20) i;
SELECT status FROM ml.train('late "orders"', 'classification', 'shop."Orders"', 'late', 'xgboost');
INSERT INTO ml.models (project_id, run_id, algorithm, task, metrics, uri, sha256, bytes, format, snapshot_id)
SELECT project_id, run_id, algorithm, task, '{"f1": 0.5}', 'store:shop/1/1', encode(sha256('1'), 'hex'), 100, 'xgboost-ubj', snapshot_id FROM ml.runs;
INSERT INTO ml.deployments (project_id, model_id, strategy, deployed_by) SELECT project_id, model_id, 'specific', current_user FROM ml.models;
INSERT INTO ml.limits SELECT project_id, 100, NULL, 4, 'wait' FROM ml.projects;
CREATE TABLE ml_lake.iceberg_tables (name text);
INSERT INTO ml_lake.iceberg_tables VALUES ('orders');
SELECT max(project_id) AS project_id FROM ml.projects \gset
SELECT max(run_id) AS run_id, max(snapshot_id) AS snapshot_id FROM ml.runs \gset

\! createdb restored
\! pg_dump regression | psql -X -q -v ON_ERROR_STOP=1 -d restored -o /dev/null
\c restored
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SELECT name, task, models, deployed_model_id IS NOT NULL AS deployed FROM ml.list_projects();
SELECT project_id = :project_id AS same FROM ml.projects;
SELECT requests_per_second, rows_per_second, concurrent_requests, on_limit FROM ml.limits;
SELECT column_name, role FROM ml.describe_task('late "orders"');
SELECT project, status FROM ml.run_status(:run_id);
SELECT project, metrics, uri, deployed FROM ml.list_models();
SELECT tablename FROM pg_publication_tables ORDER BY tablename;
SELECT relreplident FROM pg_class WHERE oid = 'shop."Orders"'::regclass;
SELECT name FROM ml_lake.iceberg_tables;
-- The next ones
SELECT ml.create_project('next', 'regression') > :project_id AS later;
SELECT status FROM ml.train('late "orders"', algorithm => 'xgboost');
SELECT min(r.run_id) < max(r.run_id) AS later FROM ml.runs r;
SELECT tablename FROM pg_publication_tables ORDER BY tablename;
SELECT relation, status, prior_replica_identity FROM ml.captured_tables;
-- Nobody captured it here before, so it is given back as it was there before
SELECT bool_and(ml.drop_project(name)) FROM ml.list_projects();
SELECT relreplident FROM pg_class WHERE oid = 'shop."Orders"'::regclass;
\c regression
\! dropdb restored
SET client_min_messages = warning;
SELECT bool_and(ml.drop_project(name)) FROM ml.list_projects();
SELECT ml.release_all();
DROP TABLE ml_lake.iceberg_tables;
DROP SCHEMA shop CASCADE;
