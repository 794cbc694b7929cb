#!/usr/bin/env bash
# What goes wrong says so: one clear error, a SQLSTATE an application can branch on, never a hang.
. "$(dirname "$0")/lib.sh"

forget_project mistakes
make_churn_table mistakes
train mistakes mistakes churn '{"n_estimators": 5}' >/dev/null
forget_project untrained
sql "SELECT ml.create_project('untrained', 'classification')" >/dev/null

fails "an unknown project" 42704 "SELECT ml.predict('nobody', ROW(1))"
fails "a project without a model" 55000 "SELECT ml.predict('untrained', ROW(1))"
fails "a missing column" 42703 "SELECT ml.predict('mistakes', '{\"state\": \"KS\"}'::jsonb)"
fails "a wrong type" 42804 "SELECT ml.predict('mistakes', jsonb_set(to_jsonb(m), '{total_day_minutes}', '\"many\"')) FROM mistakes m LIMIT 1"
fails "a positional row of the wrong length" 22023 "SELECT ml.predict('mistakes', ROW(1, 2, 3))"
fails "an array where columns are text" 42804 "SELECT ml.predict('mistakes', array_fill(1.0::float8, ARRAY[19]))"
fails "a table without primary key" 55000 "CREATE TABLE no_key (a int, b text); SELECT ml.snapshot('no_key', 'b')"
fails "a table that is not there any more" 42P01 "SELECT ml.snapshot('never_was', 'b')"

# The gateway is away: refused at once, with a hint, and the database goes on.
kill -KILL "$(process_pid gateway)"
holds "the database itself does not notice" "SELECT count(*) = 5000 FROM mistakes"
sql "SELECT ml.predict('mistakes', m) FROM mistakes m LIMIT 1" >/dev/null 2>&1 || true
answer=$(psql_as_owner -d "$DATABASE" -At -v VERBOSITY=verbose 2>&1 <<'SQL' || true
\timing on
\set ON_ERROR_STOP 0
SELECT ml.predict('mistakes', m) FROM mistakes m LIMIT 1;
SELECT ml.predict('mistakes', m) FROM mistakes m LIMIT 1;
SQL
)
equals "without the gateway a prediction is SQLSTATE 57P03" "$(grep -c 'ERROR:  57P03: ' <<<"$answer")" 2
equals "with a hint how to start it" "$(grep -c '^HINT: ' <<<"$answer")" 2
equals "within 20 ms" "$(sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' <<<"$answer" | tail -n 1 | awk '{ print ($1 < 20) ? "yes" : $1 " ms" }')" yes
"$CHECKOUT/scripts/start" >/dev/null
holds "and after scripts/start it answers again" "SELECT ml.predict('mistakes', m) BETWEEN 0 AND 1 FROM mistakes m LIMIT 1"
