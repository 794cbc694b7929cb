-- The gateway as this session sees it.

CREATE FUNCTION ml._gateway_heartbeat(OUT pid int, OUT age interval)
	AS 'MODULE_PATHNAME', 'millrace_gateway_heartbeat' LANGUAGE C VOLATILE;

CREATE FUNCTION ml._gateway_status() RETURNS text
	AS 'MODULE_PATHNAME', 'millrace_gateway_status' LANGUAGE C VOLATILE;

CREATE FUNCTION ml._worker_status()
	RETURNS TABLE (worker text, pid int, alive boolean, heartbeat_age interval, in_flight int, queue_depth int, models_loaded int, version text)
	LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp SET ml.timeout_ms = 2000
AS $$
#variable_conflict use_column
DECLARE
	heartbeat record;
	answer jsonb := '{}';
	answered boolean := false;
BEGIN
	BEGIN
		SELECT NULL::int AS pid, NULL::interval AS age INTO heartbeat;
		SELECT h.* INTO heartbeat FROM ml._gateway_heartbeat() h;
		answer := ml._gateway_status();
		answered := true;
	EXCEPTION
		WHEN cannot_connect_now OR admin_shutdown THEN
			NULL; -- not running, or not responding: the row says so
		WHEN too_many_connections THEN
			answered := true; -- every slot is taken, by a gateway that lives
	END;
	RETURN QUERY SELECT coalesce(answer ->> 'worker', 'gateway'), heartbeat.pid, answered, heartbeat.age,
		(answer ->> 'in-flight')::int, (answer ->> 'queue-depth')::int, (answer ->> 'models-loaded')::int, answer ->> 'version';
END
$$;

CREATE FUNCTION ml.worker_status()
	RETURNS TABLE (worker text, pid int, alive boolean, heartbeat_age interval, in_flight int, queue_depth int, models_loaded int, version text)
	LANGUAGE sql VOLATILE
BEGIN ATOMIC
	SELECT * FROM ml._worker_status();
END;

COMMENT ON FUNCTION ml.worker_status() IS
	'The gateway of this server: whether it is alive, how old its heartbeat is, what it works on. alive is false, and the rest NULL, when it does not run; what it works on is NULL when every slot is taken.';

CREATE FUNCTION ml._gateway_metrics() RETURNS text
	AS 'MODULE_PATHNAME', 'millrace_gateway_metrics' LANGUAGE C VOLATILE;

-- The names of other people's projects are not for everybody: series of single models are for administrators.
CREATE FUNCTION ml._metrics(caller ml.caller, name_like text)
	RETURNS TABLE (name text, labels jsonb, value double precision)
	LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, ml, pg_temp SET ml.timeout_ms = 5000
AS $$
	SELECT m.name, m.labels, m.value::double precision
	FROM jsonb_to_recordset(ml._gateway_metrics()::jsonb) AS m (name text, labels jsonb, value text)
	WHERE m.name LIKE name_like AND (coalesce(m.labels ->> 'model', '') = '' OR ml._may(caller, 'ml_admin'))
	ORDER BY m.name
$$;

CREATE FUNCTION ml.metrics(name_like text DEFAULT '%')
	RETURNS TABLE (name text, labels jsonb, value double precision)
	LANGUAGE sql VOLATILE
BEGIN ATOMIC
	SELECT * FROM ml._metrics(ml.caller(), name_like);
END;

COMMENT ON FUNCTION ml.metrics(text) IS
	'The metrics of the gateway under their Prometheus names, as its /metrics has them: counters since the gateway''s start, gauges now, histograms as _bucket, _sum and _count. Units are in the names. Series with a model in their labels are for members of ml_admin.';
