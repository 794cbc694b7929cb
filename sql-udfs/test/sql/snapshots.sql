\set SHOW_CONTEXT never
CREATE TABLE cars (id int PRIMARY KEY, age int, maker text, built date, price numeric, sold boolean);

-- Of a table
SELECT relation, y_column_name, snapshot_id, status FROM ml.snapshot('cars', 'price') \gset
SELECT :'relation' AS relation, :'y_column_name' AS label, :'status' AS status;
SELECT parent_id, test_size, test_sampling, preprocess, key_columns, features, owner = current_user AS mine FROM ml.snapshots WHERE snapshot_id = :snapshot_id;
SELECT relation FROM ml.snapshot_requests WHERE snapshot_id = :snapshot_id;
SELECT relation, status FROM ml.snapshot('cars', 'sold', 0.1, 'Last', '{"age": {"impute": "mean", "scale": "min_max"}, "default": "linear"}');
SELECT test_size, test_sampling, preprocess FROM ml.snapshots ORDER BY snapshot_id DESC LIMIT 1;

-- Refreshed: a ready one becomes the parent
UPDATE ml.snapshots SET status = 'ready', rows = 10, bytes = 1000, added_files = 1, iceberg_snapshot_id = 5 WHERE snapshot_id = :snapshot_id;
SELECT ml.refresh_snapshot(:snapshot_id) - :snapshot_id AS later;
SELECT parent_id - :snapshot_id AS parent, y_column_name, status FROM ml.snapshots ORDER BY snapshot_id DESC LIMIT 1;

-- Of a project
SELECT ml.create_project('cars', 'regression') > 0 AS made, ml.define_task('cars', 'cars', 'price', '{age,maker}') > 0 AS defined;
SELECT relation, y_column_name, status FROM ml.snapshot('cars'::text);
SELECT features, test_size, parent_id - :snapshot_id AS parent FROM ml.snapshots ORDER BY snapshot_id DESC LIMIT 1;
SELECT count(*) >= 4 AS all_of_them FROM ml.list_snapshots();
SELECT relation, rows, added_files, bytes, iceberg_snapshot_id, status FROM ml.list_snapshots('cars');

-- Rejected
SELECT ml.snapshot('cars', 'prise');
SELECT ml.snapshot('cars', NULL);
SELECT ml.snapshot(NULL::regclass, 'price');
SELECT ml.snapshot('cars', 'price', 0);
SELECT ml.snapshot('cars', 'price', 1);
SELECT ml.snapshot('cars', 'price', -0.5);
SELECT ml.snapshot('cars', 'price', 'NaN');
SELECT ml.snapshot('cars', 'price', NULL);
SELECT ml.snapshot('cars', 'price', 0.5, 'systematic');
SELECT ml.snapshot('cars', 'price', 0.5, NULL);
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '[]');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"aeg": {}}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"price": {}}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"id": {}}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"age": "mean"}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"age": {"imputer": "mean"}}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"age": {"impute": "average"}}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"age": {"impute": null}}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"age": {"impute": "constant"}}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"age": {"impute": "mean", "value": 3}}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"age": {"indicator": "yes"}}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"maker": {"impute": "median"}}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"maker": {"encode": "none"}}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"maker": {"encode": "one-hot", "scale": "standard"}}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"maker": {"max_levels": 0}}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"built": {"encode": "ordinal"}}');
SELECT ml.snapshot('cars', 'price', 0.5, 'random', '{"default": "forest"}');
SELECT ml.snapshot('nobody'::text);
SELECT ml.refresh_snapshot(NULL);
SELECT ml.refresh_snapshot(-1);
SELECT ml.list_snapshots('nobody');

-- The request is the last thing a transaction writes, so what it changes after asking is in as well
BEGIN;
SELECT snapshot_id FROM ml.snapshot('cars', 'price') \gset late_
INSERT INTO cars VALUES (1, 2, 'maker', '2020-01-01', 3, true);
SELECT count(*) AS not_yet FROM ml.snapshot_requests WHERE snapshot_id = :late_snapshot_id;
COMMIT;
SELECT r.xmin = c.xmin AS of_one_transaction, r.cmin::text::int > c.cmin::text::int AS behind
	FROM ml.snapshot_requests r, cars c WHERE r.snapshot_id = :late_snapshot_id;
DELETE FROM cars;

-- A column that is gone
ALTER TABLE cars DROP COLUMN maker;
SELECT ml.snapshot('cars'::text);
ALTER TABLE cars DROP COLUMN price;
SELECT ml.refresh_snapshot(:snapshot_id);

SELECT ml.drop_project('cars');
SELECT ml.release_all();
DELETE FROM ml.captured_tables;
DROP TABLE cars;
