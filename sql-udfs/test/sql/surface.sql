\set SHOW_CONTEXT never
-- The public functions: signatures, volatility, and a comment on each
SELECT p.oid::regprocedure AS function, pg_get_function_result(p.oid) AS result,
	CASE p.provolatile WHEN 'v' THEN 'volatile' WHEN 's' THEN 'stable' ELSE 'immutable' END AS volatility, p.procost AS cost
FROM pg_proc p WHERE p.pronamespace = 'ml'::regnamespace AND p.proname NOT LIKE '\_%'
ORDER BY p.proname COLLATE "C", pg_get_function_identity_arguments(p.oid) COLLATE "C";
SELECT p.oid::regprocedure AS "public without comment" FROM pg_proc p
WHERE p.pronamespace = 'ml'::regnamespace AND p.proname NOT LIKE '\_%' AND p.proname <> 'caller' AND obj_description(p.oid, 'pg_proc') IS NULL;
-- Every function that runs as its owner pins the search path
SELECT p.oid::regprocedure AS "definer without search_path" FROM pg_proc p
WHERE p.pronamespace = 'ml'::regnamespace AND p.prosecdef AND NOT EXISTS (SELECT FROM unnest(p.proconfig) AS c WHERE c LIKE 'search\_path=%');
SELECT p.oid::regprocedure AS "open to the public" FROM pg_proc p
WHERE p.pronamespace = 'ml'::regnamespace AND has_function_privilege('public', p.oid, 'EXECUTE');
-- All tables and sequences are in dumps, but for the requests
SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'ml'::regnamespace AND c.relkind IN ('r', 'S')
	AND NOT EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'millrace' AND c.oid = ANY (e.extconfig));
