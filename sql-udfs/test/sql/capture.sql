\set SHOW_CONTEXT never
CREATE VIEW capture AS
	SELECT t.relation, t.status, t.prior_replica_identity AS prior, c.relreplident AS now,
		EXISTS (SELECT FROM pg_publication_tables p WHERE p.pubname = 'millrace' AND format('%I.%I', p.schemaname, p.tablename) = t.relation) AS published,
		has_table_privilege('ml_worker', c.oid, 'SELECT') AS readable
	FROM ml.captured_tables t LEFT JOIN pg_class c ON c.oid = to_regclass(t.relation) ORDER BY t.relation;
CREATE TYPE size AS ENUM ('small', 'large');
CREATE DOMAIN percentage AS numeric(5, 2);
CREATE TABLE items (id bigint PRIMARY KEY, weight numeric(12, 3) NOT NULL, bulk size, share percentage, doubled int GENERATED ALWAYS AS (2) STORED, y text);

-- The first snapshot captures the table
SELECT relation, y_column_name, status FROM ml.snapshot('items', 'y');
SELECT * FROM capture;
SELECT schema_name, table_name, key_columns, relid = 'items'::regclass AS same FROM ml.captured_tables;
SELECT jsonb_array_elements(columns) FROM ml.captured_tables;
SELECT pubinsert, pubupdate, pubdelete, schemaname, tablename FROM pg_publication JOIN pg_publication_tables USING (pubname) ORDER BY tablename;

-- A second one changes nothing about the capture; an altered table updates its row
SELECT relation, status FROM ml.snapshot('items', 'y');
ALTER TABLE items ADD COLUMN colour text;
SELECT relation, status FROM ml.snapshot('items', 'y');
SELECT jsonb_array_length(columns), columns -> -1 FROM ml.captured_tables;
ALTER TABLE items ADD COLUMN document json;
SELECT relation, status FROM ml.snapshot('items', 'y');
ALTER TABLE items DROP COLUMN document;

-- Rolled back, nothing stays
CREATE TABLE others (id int PRIMARY KEY, x int, y int);
BEGIN;
SELECT relation, status FROM ml.snapshot('others', 'y');
SELECT * FROM capture;
ROLLBACK;
SELECT * FROM capture;
SELECT relreplident FROM pg_class WHERE oid = 'others'::regclass;

-- Every kind of replica identity comes back when the table is released
CREATE TABLE by_index (id int PRIMARY KEY, code int NOT NULL UNIQUE, y int);
ALTER TABLE by_index REPLICA IDENTITY USING INDEX by_index_code_key;
CREATE TABLE by_nothing (id int PRIMARY KEY, x int, y int);
ALTER TABLE by_nothing REPLICA IDENTITY NOTHING;
CREATE TABLE by_full (id int PRIMARY KEY, x int, y int);
ALTER TABLE by_full REPLICA IDENTITY FULL;
SELECT count(*) FROM (SELECT ml.snapshot(t, 'y') FROM unnest(ARRAY['by_index', 'by_nothing', 'by_full']::regclass[]) AS t) s;
SELECT * FROM capture;
SELECT ml.release_table('by_index'), ml.release_table('by_nothing'), ml.release_table('by_full'), ml.release_table('others');
SELECT * FROM capture;
SELECT relname, relreplident FROM pg_class WHERE relname IN ('by_index', 'by_nothing', 'by_full') ORDER BY relname;
SELECT indexrelid::regclass FROM pg_index WHERE indisreplident;
SELECT has_table_privilege('ml_worker', 'by_index', 'SELECT');

-- A table that was loaded is let go by the stream; captured again before that, it is kept
UPDATE ml.captured_tables SET status = 'streaming', lake_table = 'public.items';
SELECT ml.release_table('items');
SELECT * FROM capture;
SELECT ml.release_table('items');
SELECT status FROM ml.snapshot('items', 'y');
SELECT * FROM capture;

-- A failed capture is asked for again
UPDATE ml.captured_tables SET status = 'failed', error = 'no room';
SELECT status FROM ml.snapshot('items', 'y');
SELECT relation, status, error FROM ml.captured_tables;

-- What a workers' grant was there before stays there
GRANT SELECT ON others TO ml_worker;
SELECT status FROM ml.snapshot('others', 'y');
SELECT ml.release_table('others'), has_table_privilege('ml_worker', 'others', 'SELECT');

-- A schema of its own
CREATE SCHEMA "Private";
CREATE TABLE "Private"."T" (id int PRIMARY KEY, x int, y int);
SELECT status FROM ml.snapshot('"Private"."T"', 'y');
SELECT has_schema_privilege('ml_worker', 'Private', 'USAGE'), has_table_privilege('ml_worker', '"Private"."T"', 'SELECT');
SELECT ml.release_table('"Private"."T"');
SELECT has_schema_privilege('ml_worker', 'Private', 'USAGE');

-- It is left to the last captured table of the schema
CREATE TABLE "Private"."U" (id int PRIMARY KEY, x int, y int);
SELECT status FROM ml.snapshot('"Private"."T"', 'y');
SELECT status FROM ml.snapshot('"Private"."U"', 'y');
SELECT ml.release_table('"Private"."T"');
SELECT has_schema_privilege('ml_worker', 'Private', 'USAGE');
SELECT ml.release_table('"Private"."U"');
SELECT has_schema_privilege('ml_worker', 'Private', 'USAGE');

-- A renamed table is given back under its new name; the table that took its name is left alone
CREATE TABLE renamed (id int PRIMARY KEY, x int, y int);
SELECT status FROM ml.snapshot('renamed', 'y');
ALTER TABLE renamed RENAME TO moved;
CREATE TABLE renamed (id int PRIMARY KEY, x int, y int);
ALTER TABLE renamed REPLICA IDENTITY FULL;
GRANT SELECT ON renamed TO ml_worker;
SELECT ml.release_table('renamed');
SELECT ml.release_table('moved');
SELECT relname, relreplident, has_table_privilege('ml_worker', oid, 'SELECT') AS readable,
	EXISTS (SELECT FROM pg_publication_tables WHERE tablename = relname) AS published
FROM pg_class WHERE relname IN ('renamed', 'moved') ORDER BY relname;
-- So it is when the new one is captured under that name
SELECT status FROM ml.snapshot('moved', 'y');
ALTER TABLE renamed RENAME TO third;
ALTER TABLE moved RENAME TO renamed;
ALTER TABLE third RENAME TO moved;
SELECT status FROM ml.snapshot('moved', 'y');
SELECT relname, relreplident, has_table_privilege('ml_worker', oid, 'SELECT') AS readable,
	EXISTS (SELECT FROM pg_publication_tables WHERE tablename = relname) AS published
FROM pg_class WHERE relname IN ('renamed', 'moved') ORDER BY relname;
SELECT ml.release_table('renamed'), ml.release_table('moved');
DROP TABLE renamed, moved;

-- A dropped table leaves its row for the stream to end; a new one of that name starts over
DROP TABLE items;
SELECT * FROM capture;
CREATE TABLE items (id bigint PRIMARY KEY, x int, y text);
SELECT status FROM ml.snapshot('items', 'y');
SELECT * FROM capture;

-- In use
SELECT ml.create_project('stock', 'classification') > 0 AS made, ml.define_task('stock', 'items', 'y') > 0 AS defined;
SELECT ml.release_table('items');
SELECT ml.release_table(NULL);
-- Somebody's snapshot is still in the making: the table stays captured
SELECT ml.drop_project('stock');
SELECT * FROM capture;
UPDATE ml.snapshots SET status = 'ready' WHERE relation = 'public.items';
SELECT ml.create_project('stock', 'classification') > 0 AS made, ml.define_task('stock', 'items', 'y') > 0 AS defined;
SELECT ml.drop_project('stock');
SELECT * FROM capture;
SELECT status FROM ml.snapshot('items', 'y');
SELECT ml.release_all();
SELECT * FROM capture;
SELECT count(*) FROM pg_publication;
DELETE FROM ml.captured_tables;

DROP SCHEMA "Private" CASCADE;
DROP VIEW capture;
DROP TABLE items, others, by_index, by_nothing, by_full;
