#!/usr/bin/env bash
# Requests are ordinary table work: a ROLLBACK takes them back, a COMMIT shows them to every session.
. "$(dirname "$0")/lib.sh"

forget_project rollback
make_churn_table customers
good=$(train rollback customers churn '{"n_estimators": 20}')
weak=$(train rollback customers churn '{"n_estimators": 1, "max_depth": 1}')
good_model=$(sql "SELECT model_id FROM ml.run_status($good)")
weak_model=$(sql "SELECT model_id FROM ml.run_status($weak)")
deployed() { sql "SELECT deployed_model_id FROM ml.list_projects('rollback')"; }
score() { sql "SELECT ml.predict('rollback', c) FROM customers c WHERE id = 1"; }

equals "a model that is not better is not deployed by itself" "$(deployed)" "$good_model"
holds "its run says so, with both numbers on the same test rows" \
  "SELECT phase LIKE 'succeeded, not deployed: f1 % is not above the % of deployed model $good_model on the same test rows'
     AND (metrics->>'deployed-model-id')::bigint = $good_model AND (metrics->>'deployed-f1')::float8 > (metrics->>'f1')::float8
     AND metrics->'deployed-f1' = (SELECT metrics->'f1' FROM ml.run_status($good)) FROM ml.run_status($weak)"

sql "BEGIN; SELECT ml.deploy($weak_model); ROLLBACK" >/dev/null
equals "a deploy that was rolled back changed nothing" "$(deployed)" "$good_model"

# What runs and snapshots and projects there were, before and after a transaction that takes everything back.
counts="SELECT concat_ws(' ', (SELECT count(*) FROM ml.runs), (SELECT count(*) FROM ml.snapshots), (SELECT count(*) FROM ml.snapshot_requests),
  (SELECT count(*) FROM ml.projects), (SELECT count(*) FROM ml.captured_tables), (SELECT count(*) FROM pg_publication_tables))"
before=$(sql "$counts")
sql "CREATE TABLE IF NOT EXISTS never_captured AS TABLE customers; ALTER TABLE never_captured ADD PRIMARY KEY (id)"
sql "BEGIN;
  SELECT ml.snapshot('never_captured', 'churn');
  SELECT ml.train('never', 'classification', 'never_captured', 'churn', 'xgboost');
  ROLLBACK" >/dev/null
equals "a rolled back snapshot and training left nothing" "$(sql "$counts")" "$before"
holds "the table's replica identity is as before" "SELECT relreplident = 'd' FROM pg_class WHERE oid = 'never_captured'::regclass"

# A prepared statement, before and after another session deploys.
with_good=$(score)
answers=$(psql_as_owner -d "$DATABASE" -At <<SQL
PREPARE ask AS SELECT ml.predict('rollback', c) FROM customers c WHERE id = 1;
EXECUTE ask;
\\! PGOPTIONS= "$PG_BIN/psql" -X -q -h "$(socket_dir)" -p $(port postgres) -U postgres -d $DATABASE -c "SELECT ml.deploy($weak_model)" >/dev/null
EXECUTE ask;
SQL
)
with_weak=$(score)
equals "a prepared statement answers with the model deployed after it" "$answers" "$with_good
$with_weak"
holds "the two models differ, so that the claim says something" "SELECT $with_good <> $with_weak"

# A second database of the cluster whose project 1 is another model than ours.
psql_as_owner -d postgres -c "DROP DATABASE IF EXISTS second" -c "CREATE DATABASE second"
psql_as_owner -d second -c "CREATE EXTENSION millrace" -c "SELECT ml.create_project('other', 'classification')" >/dev/null
columns="algorithm, task, metrics, uri, sha256, bytes, format, fitted_id, labels"
sql "COPY (SELECT $columns FROM ml.models WHERE model_id = $good_model) TO STDOUT" >"/tmp/millrace-model.$$"
psql_as_owner -d second -c "CREATE TEMP TABLE incoming AS SELECT $columns FROM ml.models LIMIT 0" -c "\\copy incoming FROM pstdin" \
  -c "INSERT INTO ml.models (project_id, $columns) SELECT 1, $columns FROM incoming" \
  -c "SELECT ml.deploy(1)" <"/tmp/millrace-model.$$" >/dev/null
rm -f "/tmp/millrace-model.$$"
literal=$(sql "SELECT row_to_json(c) FROM customers c WHERE id = 1")
equals "project 1 of the second database answers with its own model" \
  "$(sql "SELECT ml.predict('other', '$literal'::jsonb)" second)" "$with_good"
equals "and project 'rollback' of the first with the other one" "$(score)" "$with_weak"
psql_as_owner -d postgres -c "DROP DATABASE second WITH (FORCE)"
sql "SELECT ml.deploy($good_model)" >/dev/null
