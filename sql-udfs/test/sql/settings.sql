\set SHOW_CONTEXT never
-- The settings exist once the library is loaded
LOAD 'millrace';
SELECT name, setting, unit, context, min_val, max_val, enumvals FROM pg_settings WHERE name LIKE 'ml.%' AND name <> 'ml.region_dir' ORDER BY name;
SELECT boot_val, context FROM pg_settings WHERE name = 'ml.region_dir';
SET ml.timeout_ms = 0;
SET ml.timeout_ms = '2s';
SHOW ml.timeout_ms;
SET ml.timeout_ms = '2h';
SET ml.spin_us = -1;
SET ml.spin_us = 100001;
SET ml.heartbeat_ms = 600001;
SET ml.on_error = 'ignore';
SET ml.timeout = 5;
CREATE ROLE settings_user;
SET ROLE settings_user;
SET ml.region_dir = '/tmp';
SET ml.spin_us = 0;
RESET ROLE;
DROP ROLE settings_user;
RESET ALL;

-- A region that is not one; a relative directory is below the data directory
\! mkdir cluster/data/regress-region
SET ml.region_dir = 'regress-region';
SELECT ml._echo('x');
\! printf 'MILLRACE' > cluster/data/regress-region/layout.bin
SELECT ml._echo('x');
\! head -c 12644 /dev/zero > cluster/data/regress-region/layout.bin
SELECT ml._echo('x');
\! { printf 'MILLRACE\001\000\000\000'; head -c 12632 /dev/zero; } > cluster/data/regress-region/layout.bin
SELECT ml._echo('x');
\echo :LAST_ERROR_SQLSTATE
\! { printf 'MILLRACE\004\000\000\000'; head -c 12632 /dev/zero; } > cluster/data/regress-region/layout.bin
SELECT ml._echo('x');
\! { printf 'MILLRACE\004\000\000\000\144\061\000\000'; head -c 12628 /dev/zero; } > cluster/data/regress-region/layout.bin
SELECT ml._echo('x');
\! { printf 'MILLRACE\004\000\000\000\144\061\000\000'; head -c 12629 /dev/zero; } > cluster/data/regress-region/layout.bin
SELECT ml._echo('x');
\! chmod 000 cluster/data/regress-region/layout.bin
SELECT ml._echo('x');
SELECT worker, alive FROM ml.worker_status();
\! rm -rf cluster/data/regress-region
RESET ml.region_dir;
