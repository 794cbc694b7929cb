\set SHOW_CONTEXT never
-- The other side of a slot, made up by a thread of this session
LOAD 'millrace';
CREATE FUNCTION gateway_start(mute boolean) RETURNS void AS 'millrace_test' LANGUAGE C;
CREATE FUNCTION gateway_stop() RETURNS void AS 'millrace_test' LANGUAGE C;
CREATE FUNCTION slots_take(count int) RETURNS void AS 'millrace_test' LANGUAGE C;
CREATE FUNCTION slots_held() RETURNS int AS 'millrace_test' LANGUAGE C;
CREATE FUNCTION gateway_lie() RETURNS void AS 'millrace_test' LANGUAGE C;
CREATE FUNCTION gateway_refuse(refuse boolean) RETURNS void AS 'millrace_test' LANGUAGE C;
CREATE FUNCTION gateway_state(state int, version int) RETURNS void AS 'millrace_test' LANGUAGE C;
CREATE FUNCTION requests_overtake() RETURNS text AS 'millrace_test' LANGUAGE C;
-- A short name: sockets allow few bytes
SELECT '/tmp/millrace-' || pg_backend_pid() AS directory \gset
\setenv REGION :directory
\! mkdir -m 700 "$REGION"
SET ml.region_dir = :'directory';

SELECT gateway_start(false);
SELECT ml._echo('hello');
SELECT slots_held();
-- What does not fit a slab of 4096 bytes goes through a file: both ways, and the answer alone
SELECT length, ml._echo(bytes) = bytes AS same
FROM (VALUES (0), (1), (4047), (4048), (4049), (4064), (4065), (16777216), (67108864)) AS lengths(length),
  LATERAL (SELECT convert_to(repeat('x', length), 'UTF8') AS bytes) AS payload;
SELECT ml._echo(convert_to(repeat('x', 67108865), 'UTF8'));
SELECT gateway_lie();
SELECT ml._echo(convert_to(repeat('x', 10000), 'UTF8'));
SELECT slots_held(), count(file) AS payloads FROM pg_ls_dir(:'directory' || '/payload-7') file;
-- Whoever waits for a slot gives up those that others may be waiting for, and asks again
SELECT slots_take(510);
SELECT requests_overtake();
SELECT slots_held();
SELECT ml._echo('hello');
-- A table streams through one slot as through four
SELECT ml.create_project('numbers', 'regression') AS project \gset
INSERT INTO ml.models (model_id, project_id, algorithm, task, uri, sha256, bytes, format)
VALUES (4001, :project, 'xgboost', 'regression', 'store:numbers/1/1', repeat('b2', 32), 100, 'xgboost-ubj');
INSERT INTO ml.deployments (project_id, model_id, strategy, deployed_by) VALUES (:project, 4001, 'specific', current_user);
CREATE TABLE numbers AS SELECT i AS id, i * 0.5 AS x, 'text ' || i AS y FROM generate_series(0, 104) i;
SELECT count(*), bool_and(prediction = key::int % 10) AS right, bool_and(label IS NULL AND proba IS NULL) AS bare
FROM ml.predict_batch('numbers', 'numbers', 'id', 10);
SELECT slots_take(511);
SELECT count(*), bool_and(prediction = key::int % 10) AS right, bool_and(label IS NULL AND proba IS NULL) AS bare
FROM ml.predict_batch('numbers', 'numbers', 'id', 10);
SELECT slots_held();
-- Rows that are larger than a slab go one by one
UPDATE numbers SET y = repeat(id::text, 5000) WHERE id % 2 = 0;
SELECT count(*), count(*) FILTER (WHERE prediction = 0) AS first_of_their_request
FROM ml.predict_batch('numbers', 'numbers', 'id', 10);
SELECT slots_held(), count(file) AS payloads FROM pg_ls_dir(:'directory' || '/payload-7') file;
SELECT ml.drop_project('numbers');
DROP TABLE numbers;
-- Without any slot
SELECT slots_take(512);
SET ml.timeout_ms = 100;
SELECT ml._echo('hello');
SELECT worker, alive, in_flight FROM ml.worker_status();
-- Who waits for a slot can be cancelled
SET ml.timeout_ms = '30s';
SET statement_timeout = '100ms';
SELECT ml._echo('hello');
RESET statement_timeout;
SET ml.timeout_ms = 100;
SELECT gateway_stop();

-- One of another release
\! rm -r "$REGION"; mkdir -m 700 "$REGION"
SELECT gateway_start(false);
SELECT gateway_state(1, 77);
SELECT ml._echo('hello');
SELECT gateway_state(1, 4);
\! cp "$REGION/layout.bin" "$REGION/kept"; printf '\115' | dd of="$REGION/layout.bin" bs=1 seek=8 conv=notrunc status=none
SELECT ml._echo('hello');
\! mv "$REGION/kept" "$REGION/layout.bin"
SELECT ml._echo('hello');

-- One that ends: at once, or after the time its successor may take
SELECT gateway_refuse(true);
SELECT ml._echo('hello');
SELECT gateway_state(2, 4);
SELECT ml._echo('hello');
SET ml.restart_wait_ms = '50ms';
SELECT ml._echo('hello');
SET ml.timeout_ms = '30s';
SET ml.restart_wait_ms = '30s';
SET statement_timeout = '100ms';
SELECT ml._echo('hello');
RESET statement_timeout;
SELECT gateway_state(1, 4), gateway_refuse(false);
SELECT ml._echo('hello');
RESET ml.restart_wait_ms;
SET ml.timeout_ms = 100;
SELECT slots_held();
SELECT gateway_stop();

-- One that takes requests and does not answer: the deadline can be caught, and the status says so
\! rm -r "$REGION"; mkdir -m 700 "$REGION"
SELECT gateway_start(true);
SELECT ml._echo('hello');
DO $$ BEGIN PERFORM ml._echo('hello'); EXCEPTION WHEN OTHERS THEN RAISE NOTICE '%: %', SQLSTATE, SQLERRM; END $$;
SELECT worker, alive FROM ml.worker_status();
SELECT slots_held();
-- A timeout of the statement is still one
SET ml.timeout_ms = '30s';
SET statement_timeout = '100ms';
SELECT ml._echo('hello');
RESET statement_timeout;
SELECT slots_held();
SELECT gateway_stop();

\! rm -r "$REGION"
DROP FUNCTION gateway_start, gateway_stop, gateway_lie, gateway_refuse, gateway_state, slots_take, slots_held, requests_overtake;
