\set SHOW_CONTEXT never
-- The warning about rows that answered NULL: once per statement of the client
LOAD 'millrace';
CREATE FUNCTION note(message text) RETURNS text AS 'millrace_test', 'row_error_note' LANGUAGE C STRICT;
CREATE FUNCTION gateway_error(code int) RETURNS void AS 'millrace_test' LANGUAGE C STRICT;
SELECT count(note('first of ' || i)) FROM generate_series(1, 3) i;
SELECT 1 AS quiet;

-- Statements in a function belong to the one that called it
CREATE FUNCTION note_twice() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM note('in a function');
	PERFORM count(note('again')) FROM generate_series(1, 2);
	RETURN note('as an expression');
END
$$;
SELECT count(note_twice()) FROM generate_series(1, 2);
DO $$ BEGIN PERFORM note_twice(); PERFORM note_twice(); END $$;
PREPARE twice AS SELECT note_twice();
EXECUTE twice;
CREATE TABLE noted AS SELECT note_twice();
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM note('in a trigger'); RETURN NULL; END $$;
CREATE TRIGGER note AFTER INSERT ON noted FOR EACH ROW EXECUTE FUNCTION note_row();
INSERT INTO noted SELECT note_twice();
BEGIN;
DECLARE cursor CURSOR FOR SELECT note('of a cursor') FROM generate_series(1, 3);
FETCH 2 FROM cursor;
SELECT 1 AS quiet;
FETCH 2 FROM cursor;
COMMIT;

-- What was rolled back does not count, what came before it does
CREATE FUNCTION note_and_fail() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM note('kept');
	BEGIN
		PERFORM note('lost') FROM generate_series(1, 5);
		PERFORM 1 / 0;
	EXCEPTION WHEN division_by_zero THEN
		RETURN 'failed';
	END;
END
$$;
SELECT note_and_fail() FROM generate_series(1, 2);
BEGIN;
SAVEPOINT here;
SELECT note('lost'), 1 / 0;
ROLLBACK TO here;
SELECT 1 AS quiet;
COMMIT;
SELECT note('lost'), 1 / 0;
SELECT 1 AS quiet;

-- A long message is cut between two characters
SELECT note('a' || repeat('é', 300));
SELECT note(repeat('é', 300));

-- The gateway's deadline can be caught
DO $$ BEGIN PERFORM gateway_error(131074); EXCEPTION WHEN OTHERS THEN RAISE NOTICE '% %', SQLSTATE, SQLERRM; END $$;

DROP TABLE noted;
DROP FUNCTION note, note_twice, note_row, note_and_fail, gateway_error;
