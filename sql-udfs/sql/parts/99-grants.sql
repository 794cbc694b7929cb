-- Who may call what: users call the public functions and, through them, the internal ones that prove their caller.
-- Functions without a caller serve the others only.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ml FROM PUBLIC;

DO $$
DECLARE
	callable regprocedure;
BEGIN
	FOR callable IN
		SELECT p.oid::regprocedure FROM pg_catalog.pg_proc p
		WHERE p.pronamespace = 'ml'::regnamespace AND (p.prosecdef OR p.proname NOT LIKE '\_%') AND p.prorettype <> 'trigger'::regtype
	LOOP
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO ml_user', callable);
	END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION ml.release_all(), ml._release_all(ml.caller) TO ml_admin;
REVOKE EXECUTE ON FUNCTION ml.release_all(), ml._release_all(ml.caller) FROM ml_user;

-- The change job asks what a table's columns are when it loads the table again.
GRANT EXECUTE ON FUNCTION ml._columns_json(oid), ml._columns(oid) TO ml_worker;
