-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION millrace" to load this file. \quit

-- Roles outlive the extension and are shared by every database of the cluster: made when missing, never dropped.
DO $$
DECLARE
	role_name text;
BEGIN
	FOREACH role_name IN ARRAY ARRAY['ml_user', 'ml_admin', 'ml_worker'] LOOP
		IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = role_name) THEN
			EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
		END IF;
	END LOOP;
END
$$;

GRANT ml_user TO ml_admin, ml_worker;

CREATE SCHEMA ml;
COMMENT ON SCHEMA ml IS 'Millrace: machine learning on the rows of this database';
GRANT USAGE ON SCHEMA ml TO ml_user, ml_admin, ml_worker;

-- The catalog of the lake: its tables are made by the worker that writes the lake.
CREATE SCHEMA ml_lake;
COMMENT ON SCHEMA ml_lake IS 'Millrace: catalog of the lake, written by the workers';
GRANT USAGE, CREATE ON SCHEMA ml_lake TO ml_worker;
