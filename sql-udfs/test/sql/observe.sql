\set SHOW_CONTEXT never
-- Whose trace a request is part of, and the metrics of the gateway: what a made-up one is sent and answers
LOAD 'millrace';
CREATE FUNCTION gateway_start(mute boolean) RETURNS void AS 'millrace_test' LANGUAGE C;
CREATE FUNCTION gateway_stop() RETURNS void AS 'millrace_test' LANGUAGE C;
CREATE FUNCTION gateway_trace() RETURNS text AS 'millrace_test' LANGUAGE C;
SELECT '/tmp/millrace-' || pg_backend_pid() AS directory \gset
\setenv REGION :directory
\! mkdir -m 700 "$REGION"
SET ml.region_dir = :'directory';
SELECT gateway_start(false);

-- Each request has a trace of its own, and nobody has a span in it
SELECT ml._echo('x');
SELECT gateway_trace() AS first \gset
SELECT ml._echo('x');
SELECT gateway_trace() ~ '^00-[0-9a-f]{32}-0{16}-00$' AS generated, gateway_trace() <> :'first' AS fresh;
-- The caller's, for as long as its transaction says so
BEGIN;
SET LOCAL ml.traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
SELECT ml._echo('x');
SELECT gateway_trace();
SET LOCAL ml.traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-00';
SELECT ml._echo('x');
SELECT gateway_trace();
COMMIT;
SELECT ml._echo('x');
SELECT gateway_trace() ~ '^00-[0-9a-f]{32}-0{16}-00$' AS generated;

-- Not of the form
SET ml.traceparent = '4bf92f3577b34da6a3ce929d0e0e4736';
\set VERBOSITY terse
SET ml.traceparent = '01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
SET ml.traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x';
SET ml.traceparent = '00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-011';
SET ml.traceparent = '00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01';
SET ml.traceparent = '00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01';
SET ml.traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x';
SET ml.traceparent = '00-00000000000000000000000000000000-00f067aa0ba902b7-01';
SET ml.traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01';
\set VERBOSITY default
SHOW ml.traceparent;

-- Metrics by name; those of single models are for administrators
SELECT * FROM ml.metrics();
SELECT * FROM ml.metrics('millrace_rows%');
CREATE ROLE observe_user IN ROLE ml_user;
CREATE ROLE observe_admin IN ROLE ml_admin;
CREATE ROLE observe_nobody;
SET ROLE observe_user;
SELECT name FROM ml.metrics();
SELECT ml._gateway_metrics();
SET ROLE observe_admin;
SELECT name FROM ml.metrics();
SET ROLE observe_nobody;
SELECT name FROM ml.metrics();
RESET ROLE;
SELECT gateway_stop();
\set VERBOSITY terse
SELECT name FROM ml.metrics();
\! rm -r "$REGION"
DROP ROLE observe_user, observe_admin, observe_nobody;
DROP FUNCTION gateway_start, gateway_stop, gateway_trace;
