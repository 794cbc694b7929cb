-- What an administrator does once for Millrace in a database; psql variables: password of the workers, gateway_password.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS millrace;

SELECT NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_worker') AS missing \gset
\if :missing
CREATE ROLE millrace_worker;
\endif
ALTER ROLE millrace_worker LOGIN REPLICATION PASSWORD :'password';
GRANT ml_worker TO millrace_worker;

-- The gateway answers HTTP, so its role can do nothing but look up which model answers for a project.
SELECT NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_gateway') AS missing \gset
\if :missing
CREATE ROLE millrace_gateway;
\endif
ALTER ROLE millrace_gateway LOGIN PASSWORD :'gateway_password';
GRANT USAGE ON SCHEMA ml TO millrace_gateway;
GRANT SELECT (project_id, name) ON ml.projects TO millrace_gateway;
GRANT SELECT (model_id, project_id, uri, sha256, bytes, format) ON ml.models TO millrace_gateway;
GRANT SELECT (deployment_id, project_id, model_id) ON ml.deployments TO millrace_gateway;
GRANT SELECT ON ml.limits TO millrace_gateway;
-- Whose limits they are, ml.limits tells only their owners otherwise.
SELECT NOT EXISTS (SELECT FROM pg_policies WHERE schemaname = 'ml' AND tablename = 'limits' AND policyname = 'gateway') AS missing \gset
\if :missing
CREATE POLICY gateway ON ml.limits FOR SELECT TO millrace_gateway USING (true);
\endif
