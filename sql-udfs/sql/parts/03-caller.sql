-- Who calls. Public functions run as their caller and hand ml.caller() to an internal function that runs as the
-- owner of the extension. A value of this type can only be made by ml.caller() and only lives in its transaction,
-- so an internal function trusts it although anybody may call that function directly.
CREATE TYPE ml.caller;

CREATE FUNCTION ml._caller_in(cstring) RETURNS ml.caller
	AS 'MODULE_PATHNAME', 'millrace_caller_in' LANGUAGE C STRICT STABLE;

CREATE FUNCTION ml._caller_out(ml.caller) RETURNS cstring
	AS 'MODULE_PATHNAME', 'millrace_caller_out' LANGUAGE C STRICT STABLE;

CREATE TYPE ml.caller (
	INPUT = ml._caller_in,
	OUTPUT = ml._caller_out,
	INTERNALLENGTH = 12,
	ALIGNMENT = int4
);

COMMENT ON TYPE ml.caller IS 'proof of the role that called a function of Millrace; made by ml.caller() only';

CREATE FUNCTION ml.caller() RETURNS ml.caller
	AS 'MODULE_PATHNAME', 'millrace_caller' LANGUAGE C STABLE;

CREATE FUNCTION ml._role(caller ml.caller) RETURNS oid
	AS 'MODULE_PATHNAME', 'millrace_caller_role' LANGUAGE C STRICT STABLE;

CREATE FUNCTION ml._role_name(caller ml.caller) RETURNS name LANGUAGE sql STABLE
	RETURN pg_catalog.pg_get_userbyid(ml._role(caller));

-- Whether the present transaction or one of its savepoints made a row version, given its xmin.
CREATE FUNCTION ml._is_own_transaction(row_xmin xid) RETURNS boolean
	AS 'MODULE_PATHNAME', 'millrace_is_own_transaction' LANGUAGE C STRICT VOLATILE;

-- Whether the caller may act for an owner: the owner and its members, administrators and workers.
CREATE FUNCTION ml._may(caller ml.caller, owner name) RETURNS boolean LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp
AS $$
	SELECT pg_has_role(ml._role(caller), 'ml_admin', 'USAGE')
		OR pg_has_role(ml._role(caller), 'ml_worker', 'USAGE')
		OR EXISTS (SELECT FROM pg_roles r WHERE r.rolname = _may.owner AND pg_has_role(ml._role(caller), r.oid, 'USAGE'))
$$;

-- The candidates a few edits away from a name, nearest first; NULL when there is none.
CREATE FUNCTION ml._nearest(name text, candidates text[]) RETURNS text
	AS 'MODULE_PATHNAME', 'millrace_nearest_name' LANGUAGE C STRICT IMMUTABLE;
