-- What an administrator does once for Millrace in a database; psql variable: password.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS millrace;

SELECT NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_worker') AS missing \gset
\if :missing
CREATE ROLE millrace_worker;
\endif
ALTER ROLE millrace_worker LOGIN REPLICATION PASSWORD :'password';
GRANT ml_worker TO millrace_worker;
