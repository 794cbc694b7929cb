#!/usr/bin/env bash
# 32 clients predict while models change under them: no error, and each answer is that of a model that was deployed.
. "$(dirname "$0")/lib.sh"

seconds=10
[ -z "$FULL" ] || seconds=60
forget_project hot
make_churn_table hot
first=$(sql "SELECT model_id FROM ml.run_status($(train hot hot churn '{"n_estimators": 30}'))")
second=$(sql "SELECT model_id FROM ml.run_status($(train hot hot churn '{"n_estimators": 5, "max_depth": 2}'))")
psql_as_owner -d "$DATABASE" <<SQL
DROP TABLE IF EXISTS hot_expected, hot_wrong;
CREATE TABLE hot_expected AS
SELECT id, ml.predict($first::bigint, h) AS first, ml.predict($second::bigint, h) AS second FROM hot h WHERE id <= 500;
CREATE UNLOGGED TABLE hot_wrong (id bigint, answer float8);
CREATE OR REPLACE FUNCTION hot_ask(row_id bigint) RETURNS void LANGUAGE plpgsql AS \$\$
DECLARE
  answer float8;
BEGIN
  SELECT ml.predict('hot', h) INTO answer FROM hot h WHERE id = row_id;
  INSERT INTO hot_wrong SELECT row_id, answer FROM hot_expected e WHERE e.id = row_id AND answer NOT IN (e.first, e.second);
END \$\$;
SQL
script=$(as_run_user mktemp "$RUN/tmp/hot.XXXXXX")
printf '\\set id random(1, 500)\nSELECT hot_ask(:id);\n' | as_run_user tee "$script" >/dev/null
as_run_user "$PG_BIN/pgbench" -h "$(socket_dir)" -p "$(port postgres)" -U postgres -n -c 32 -j 2 -T "$seconds" -f "$script" "$DATABASE" >"$script.out" 2>&1 &
load=$!
for deploy in 1 2 3 4 5 6 7 8 9 10; do
  sleep "$(awk "BEGIN { print $seconds / 12 }")"
  if [ $((deploy % 2)) -eq 0 ]; then model=$first; else model=$second; fi
  sql "SELECT ml.deploy($model)" >/dev/null || not_ok "deploy $deploy under load"
done
if wait "$load"; then ok "32 clients, $seconds s, 10 deploys: no client failed"; else not_ok "clients failed" "$(tail -n 5 "$script.out")"; fi
equals "no transaction failed" "$(sed -n 's/^number of failed transactions: \([0-9]*\).*/\1/p' "$script.out")" 0
holds "every answer was that of one of the two models" "SELECT count(*) = 0 FROM hot_wrong"
bridge_rests
printf '#   %s\n' "$(grep '^tps' "$script.out")"
rm -f "$script" "$script.out"
