\set SHOW_CONTEXT never
-- Which directory of the gateway is trusted, and what is said of one that cannot be used
SELECT current_setting('data_directory') || '/region' AS directory \gset
\setenv REGION :directory
\set VERBOSITY sqlstate
SET ml.region_dir = :'directory';
SELECT ml._echo('x');
SELECT alive FROM ml.worker_status();

-- Nothing in it
\! mkdir -m 700 "$REGION"
SELECT ml._echo('x');
SELECT alive FROM ml.worker_status();
-- Everybody could put files into it
\! chmod 777 "$REGION"
SELECT ml._echo('x');
SELECT alive FROM ml.worker_status();
-- A file
\! rmdir "$REGION"; echo > "$REGION"
SELECT ml._echo('x');
\! rm "$REGION"
-- Out of reach: a fault of the installation that must show
\! mkdir -m 000 "$REGION"
SELECT ml._echo('x');
SELECT alive FROM ml.worker_status();
-- Not a region
\! chmod 700 "$REGION"; echo nonsense > "$REGION/layout.bin"
SELECT ml._echo('x');
SELECT alive FROM ml.worker_status();
\! rm -r "$REGION"
\set VERBOSITY default

-- Root's directory would be trusted
SET ml.region_dir = '/etc';
SELECT ml._echo('x');
SET ml.region_dir = '/dev/shm';
SELECT ml._echo('x');
RESET ml.region_dir;
