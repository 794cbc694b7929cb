\set SHOW_CONTEXT never
CREATE TYPE mood AS ENUM ('sad', 'fine');
CREATE DOMAIN percentage AS numeric(5, 2) CHECK (VALUE BETWEEN 0 AND 100);
CREATE TABLE customers (
	id int PRIMARY KEY, "Total Day" numeric(10, 2), plan varchar(20), code char(3), n smallint, big bigint, r real, d double precision,
	active boolean, since date, seen timestamp, seen_at timestamptz, token uuid, feeling mood, share percentage,
	doubled int GENERATED ALWAYS AS (n * 2) STORED, churn text, price numeric);
SELECT ml.create_project('churn', 'classification') > 0 AS made, ml.create_project('price', 'regression') > 0 AS made;

-- The definition
SELECT ml.define_task('churn', 'customers', 'churn') = project_id AS same FROM ml.projects WHERE name = 'churn';
SELECT * FROM ml.describe_task('churn');
SELECT relation, y_column_name, features, key_columns, time_column FROM ml.tasks JOIN ml.projects USING (project_id) WHERE name = 'churn';

-- Defined again
SELECT ml.define_task('churn', 'customers', 'feeling', ARRAY['Total Day', 'n'], NULL, 'seen_at') > 0 AS defined;
SELECT column_name, role FROM ml.describe_task('churn');
SELECT count(*) FROM ml.tasks;

-- Rejected labels
SELECT ml.define_task('churn', 'customers', NULL);
SELECT ml.define_task('churn', 'customers', 'chrun');
SELECT ml.define_task('churn', 'customers', 'nothing of the kind');
SELECT ml.define_task('churn', 'customers', 'Churn');
SELECT ml.define_task('churn', 'customers', 'price');
SELECT ml.define_task('churn', 'customers', 'since');
SELECT ml.define_task('price', 'customers', 'plan');
SELECT ml.define_task('price', 'customers', 'active');
SELECT ml.define_task('churn', 'customers', 'doubled');
SELECT ml.define_task('churn', 'customers', 'id');
SELECT ml.define_task('churn', 'customers', 'n') > 0 AS defined, ml.define_task('price', 'customers', 'n') > 0 AS defined;

-- Rejected features
SELECT ml.define_task('churn', 'customers', 'churn', '{}');
SELECT ml.define_task('churn', 'customers', 'churn', '{plan,plaan}');
SELECT ml.define_task('churn', 'customers', 'churn', '{plan,churn}');
SELECT ml.define_task('churn', 'customers', 'churn', '{plan,id}');
SELECT ml.define_task('churn', 'customers', 'churn', '{plan,n,plan}');
SELECT ml.define_task('churn', 'customers', 'churn', '{plan,NULL}');
CREATE TABLE bare (id int PRIMARY KEY, y text);
SELECT ml.define_task('churn', 'bare', 'y');

-- Rejected keys
CREATE TABLE keyless (a int, b int NOT NULL, c int NOT NULL, y text);
SELECT ml.define_task('churn', 'keyless', 'y');
SELECT ml.define_task('churn', 'keyless', 'y', NULL, '{b}');
CREATE UNIQUE INDEX ON keyless (b) WHERE c > 0;
SELECT ml.define_task('churn', 'keyless', 'y', NULL, '{b}');
CREATE UNIQUE INDEX ON keyless (a);
SELECT ml.define_task('churn', 'keyless', 'y', NULL, '{a}');
SELECT ml.define_task('churn', 'keyless', 'y', NULL, '{z}');
CREATE UNIQUE INDEX ON keyless (c, b);
SELECT ml.define_task('churn', 'keyless', 'y', NULL, '{b,c}') > 0 AS defined;
SELECT key_columns FROM ml.tasks WHERE relation = 'public.keyless';
SELECT ml.define_task('churn', 'keyless', 'b', NULL, '{b,c}');

-- Rejected time columns and options
SELECT ml.define_task('churn', 'customers', 'churn', NULL, NULL, 'plan');
SELECT ml.define_task('churn', 'customers', 'churn', NULL, NULL, 'sen');
SELECT ml.define_task('churn', 'customers', 'churn', NULL, NULL, NULL, '{"on_error": 1}');

-- Rejected relations
CREATE VIEW a_view AS SELECT * FROM customers;
CREATE MATERIALIZED VIEW a_matview AS SELECT * FROM customers;
CREATE TABLE parted (id int PRIMARY KEY, y text, x int) PARTITION BY RANGE (id);
CREATE TABLE part_one PARTITION OF parted FOR VALUES FROM (0) TO (10);
CREATE TEMP TABLE a_temp (id int PRIMARY KEY, y text, x int);
CREATE UNLOGGED TABLE unlogged (id int PRIMARY KEY, y text, x int);
CREATE SEQUENCE a_sequence;
SELECT ml.define_task('churn', 'a_view', 'churn');
SELECT ml.define_task('churn', 'a_matview', 'churn');
SELECT ml.define_task('churn', 'parted', 'y');
SELECT ml.define_task('churn', 'part_one', 'y') > 0 AS defined;
-- The schema of a temporary table has another name in every session
\set VERBOSITY sqlstate
SELECT ml.define_task('churn', 'a_temp', 'y');
\set VERBOSITY default
SELECT ml.define_task('churn', 'unlogged', 'y');
SELECT ml.define_task('churn', 'a_sequence', 'y');
SELECT ml.define_task('churn', 'pg_class', 'relname');
SELECT ml.define_task('churn', 'ml.runs', 'status');
SELECT ml.define_task('churn', 'information_schema.sql_features', 'feature_id');
SELECT ml.define_task('churn', 0::regclass, 'y');
SELECT ml.define_task('churn', NULL, 'y');
SELECT ml.define_task('churn', 'no_such_table', 'y');

-- Unsupported types are refused by name
CREATE TABLE odd (id int PRIMARY KEY, document jsonb, "Blob" bytea, y text, tags text[], span interval, at time, ok int, place point);
SELECT ml.define_task('churn', 'odd', 'y');
\echo :LAST_ERROR_SQLSTATE

-- Names that need quotes
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."tab""le.🌾" ("key ""one""" int PRIMARY KEY, "x.y" real, "Ü" text);
SELECT ml.define_task('churn', '"Odd Schema"."tab""le.🌾"', 'Ü') > 0 AS defined;
SELECT relation, y_column_name, key_columns FROM ml.tasks JOIN ml.projects USING (project_id) WHERE name = 'churn';
SELECT column_name, role FROM ml.describe_task('churn');

-- No task
SELECT ml.create_project('empty', 'regression') > 0 AS made;
SELECT * FROM ml.describe_task('empty');
SELECT * FROM ml.describe_task('chrn');
DROP TABLE "Odd Schema"."tab""le.🌾";
SELECT * FROM ml.describe_task('churn');

-- Nothing above captured a table
SELECT count(*) FROM ml.captured_tables;
SELECT count(*) FROM pg_publication;
SELECT bool_and(ml.drop_project(name)) FROM ml.list_projects();
DROP TABLE customers, bare, keyless, parted, unlogged, odd CASCADE;
