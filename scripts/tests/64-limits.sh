#!/usr/bin/env bash
# Limits of a project: in force with the commit, in every session, and gone with the row.
. "$(dirname "$0")/lib.sh"

forget_project limits
make_churn_table limits_rows
train limits limits_rows churn '{"n_estimators": 5}' >/dev/null
project=$(sql "SELECT project_id FROM ml.list_projects('limits')")
limit() { sql "INSERT INTO ml.limits VALUES ($project, $1) ON CONFLICT (project_id) DO UPDATE SET
  (requests_per_second, rows_per_second, concurrent_requests, on_limit) =
  (excluded.requests_per_second, excluded.rows_per_second, excluded.concurrent_requests, excluded.on_limit)"; }
unlimit() { sql "DELETE FROM ml.limits WHERE project_id = $project"; }
# Each row is a request of its own.
asked() { echo "SELECT count(ml.predict('limits', r)) FROM (SELECT * FROM limits_rows LIMIT $1) r"; }

equals "without limits all are answered" "$(sql "$(asked 20)")" 20
limit "1, NULL, NULL, 'reject'"
fails "requests above a limit are refused" 53400 "$(asked 20)"
message=$(sql_or_error "$(asked 20)")
equals "by an error that names the limit and its value" \
  "$(grep -c 'project=limits, limit=requests_per_second, value=1, requested=1' <<<"$message")" 1
equals "with a hint where to change it" "$(grep -c 'HINT:.*ml.limits' <<<"$message")" 1
unlimit
equals "without the row nothing is limited any more" "$(sql "$(asked 20)")" 20

fails "a limit holds for the transaction that makes it" 53400 "BEGIN; INSERT INTO ml.limits VALUES ($project, 1); $(asked 20)"
equals "and for nobody when that is rolled back" "$(sql "$(asked 20)")" 20

answers=$(psql_as_owner -d "$DATABASE" -At <<SQL 2>&1 || true
PREPARE ask AS $(asked 20);
EXECUTE ask;
\\! PGOPTIONS= "$PG_BIN/psql" -X -q -h "$(socket_dir)" -p $(port postgres) -U postgres -d $DATABASE -c "INSERT INTO ml.limits VALUES ($project, 1)"
\\set ON_ERROR_STOP 0
EXECUTE ask;
SELECT :'LAST_ERROR_SQLSTATE';
SQL
)
equals "a session that was there before is held to it, in a prepared statement too" \
  "$(sed -n '1p;$p' <<<"$answers" | paste -sd ' ')" "20 53400"

limit "NULL, 5, NULL, 'reject'"
fails "rows are counted" 53400 "$(asked 20)"
limit "10, NULL, NULL, 'wait'"
holds "who may wait is answered, in its time" \
  "SELECT count = 16 AND clock_timestamp() - statement_timestamp() > '0.4 s' FROM ($(asked 16)) a"
limit "1, NULL, NULL, 'wait'"
fails "but no longer than ml.timeout_ms" 53400 "SET ml.timeout_ms = 300; $(asked 20)"
fails "and a cancel ends the wait" 57014 "SET statement_timeout = 300; $(asked 20)"
eventually "which leaves nothing behind" 10 "SELECT in_flight = 0 FROM ml.worker_status()"
unlimit

sql "INSERT INTO ml.limits (project_id, merge_window_us) VALUES ($project, 2000)"
equals "a merge window is no limit" "$(sql "$(asked 20)")" 20
fails "and has its range" 22023 "UPDATE ml.limits SET merge_window_us = -1 WHERE project_id = $project"
unlimit
