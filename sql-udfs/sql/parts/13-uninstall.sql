-- DROP EXTENSION undoes what the extension did outside its schema: publication, replica identities, grants, slots.
CREATE FUNCTION ml._drop_extension() RETURNS event_trigger
	AS 'MODULE_PATHNAME', 'millrace_drop_extension' LANGUAGE C;

CREATE EVENT TRIGGER millrace_drop_extension ON ddl_command_start WHEN TAG IN ('DROP EXTENSION')
	EXECUTE FUNCTION ml._drop_extension();
