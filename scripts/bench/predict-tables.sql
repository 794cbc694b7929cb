SET client_min_messages = warning;
CREATE SCHEMA IF NOT EXISTS bench;
DO $$
BEGIN
  IF to_regclass('bench.narrow') IS NOT NULL THEN
    RETURN;
  END IF;
  DROP TABLE IF EXISTS bench.wide, bench.arrays;
  PERFORM setseed(0.5);
  EXECUTE format('CREATE TABLE bench.wide AS SELECT g AS id, %s FROM generate_series(1, 20000) g',
    (SELECT string_agg(format('random() AS f%s', n), ', ' ORDER BY n) FROM generate_series(1, 100) n));
  ALTER TABLE bench.wide ADD PRIMARY KEY (id), ADD COLUMN y text;
  UPDATE bench.wide SET y = CASE WHEN f1 + f2 * f3 + sin(6 * f4) + 0.3 * random() > 1.2 THEN 'yes' ELSE 'no' END;
  EXECUTE format('CREATE TABLE bench.arrays AS SELECT id, ARRAY[%s]::float8[] AS features FROM bench.wide',
    (SELECT string_agg('f' || n, ', ' ORDER BY n) FROM generate_series(1, 100) n));
  ALTER TABLE bench.arrays ADD PRIMARY KEY (id);
  EXECUTE format('CREATE TABLE bench.narrow AS SELECT id, y, %s FROM bench.wide',
    (SELECT string_agg('f' || n, ', ' ORDER BY n) FROM generate_series(1, 20) n));
  ALTER TABLE bench.narrow ADD PRIMARY KEY (id);
END $$;
VACUUM ANALYZE bench.wide, bench.narrow, bench.arrays;
