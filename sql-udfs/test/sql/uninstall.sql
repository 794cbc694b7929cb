\set SHOW_CONTEXT never
CREATE TABLE captured (id int PRIMARY KEY, x int, y int);
SELECT status FROM ml.train('gone', 'regression', 'captured', 'y', 'xgboost');
SELECT relreplident FROM pg_class WHERE oid = 'captured'::regclass;

-- Another extension's end is none of its business
CREATE SCHEMA elsewhere;

-- Rolled back: all is as before
BEGIN;
DROP EXTENSION millrace;
SELECT relreplident FROM pg_class WHERE oid = 'captured'::regclass;
SELECT count(*) FROM pg_publication;
ROLLBACK;
SELECT relreplident FROM pg_class WHERE oid = 'captured'::regclass;
SELECT tablename FROM pg_publication_tables ORDER BY tablename;
SELECT count(*) FROM ml.list_projects();

-- What others made in the schema of the lake keeps the extension
CREATE TABLE ml_lake.iceberg_tables (a int);
DROP EXTENSION millrace;
DROP TABLE ml_lake.iceberg_tables;

-- Dropped: nothing is left, and it can be made again
DROP EXTENSION millrace;
SELECT relreplident FROM pg_class WHERE oid = 'captured'::regclass;
SELECT count(*) FROM pg_publication;
SELECT has_table_privilege('ml_worker', 'captured', 'SELECT');
SELECT to_regnamespace('ml'), to_regnamespace('ml_lake');
SELECT count(*) FROM pg_event_trigger;
SELECT count(*) FROM pg_replication_slots;
CREATE EXTENSION millrace;
SELECT count(*) FROM ml.list_projects();
DROP SCHEMA elsewhere;
DROP TABLE captured;
