\set SHOW_CONTEXT never
-- The library of the extension first: the test's library calls into it
LOAD 'millrace';
CREATE FUNCTION slot_stolen() RETURNS boolean AS 'millrace_test' LANGUAGE C;
CREATE FUNCTION slot_exhausted() RETURNS int AS 'millrace_test' LANGUAGE C;
-- A slot that became a stranger's is not taken for one's own
SELECT slot_stolen();
SELECT slot_exhausted();
DROP FUNCTION slot_stolen, slot_exhausted;
