#!/usr/bin/env bash
# kill -9 of every process in turn, in mid-work. Nothing is lost or doubled; scripts/start brings back what is missing.
. "$(dirname "$0")/lib.sh"

forget_project survivors
make_churn_table survivors
train survivors survivors churn '{"n_estimators": 20}' >/dev/null
ask="SELECT ml.predict('survivors', s) FROM survivors s WHERE id = 7"
expected=$(sql "$ask")
again() { "$CHECKOUT/scripts/start" >"$RUN/log/restart.out" 2>&1 || not_ok "scripts/start after a kill" "$(tail -n 3 "$RUN/log/restart.out")"; }
kill_hard() { kill -KILL "$(process_pid "$1")"; }

# The gateway, while a session waits for many answers. The session is asked again afterwards: it must be alive.
fifo=$(as_run_user mktemp -u "$RUN/tmp/session.XXXXXX")
as_run_user mkfifo "$fifo"
psql_session() { as_run_user "$PG_BIN/psql" -X -q -At -h "$(socket_dir)" -p "$(port postgres)" -U postgres -d "$DATABASE"; }
psql_session <"$fifo" >"/tmp/millrace-session.$$" 2>&1 &
session=$!
exec 8>"$fifo"
echo "$ask;" >&8
# Connected to the gateway first: what is timed below is a request's end, not a connection's.
deadline=$((SECONDS + 30))
until [ -s "/tmp/millrace-session.$$" ] || [ "$SECONDS" -gt "$deadline" ]; do sleep 0.02; done
echo "SELECT count(ml.predict('survivors', s)) FROM survivors s, generate_series(1, 1000);" >&8
sleep 1
kill_hard gateway
killed=$(date +%s%N)
until grep -q ERROR "/tmp/millrace-session.$$" || [ $(($(date +%s%N) - killed)) -gt 5000000000 ]; do sleep 0.02; done
equals "a session in mid-request gets its error within a second of the gateway's death" \
  "$(grep -q ERROR "/tmp/millrace-session.$$" && [ $(($(date +%s%N) - killed)) -lt 1000000000 ] && echo yes)" yes
again
echo "$ask;" >&8
echo '\q' >&8
exec 8>&-
wait "$session" || true
equals "the same session predicts again after the restart" "$(tail -n 1 "/tmp/millrace-session.$$")" "$expected"
rm -f "/tmp/millrace-session.$$" "$fifo"

# A backend that holds a slot. PostgreSQL restarts all its backends after such a kill; the slot must come back.
sql "SELECT count(ml.predict('survivors', s)) FROM survivors s, generate_series(1, 1000)" >/dev/null 2>&1 &
client=$!
sleep 1
kill -KILL "$(sql "SELECT pid FROM pg_stat_activity WHERE query LIKE '%generate_series(1, 1000)%' AND pid <> pg_backend_pid() LIMIT 1")"
wait "$client" || true
eventually "predictions work after a backend was killed with a slot" 60 "SELECT ml.predict('survivors', s) = $expected FROM survivors s WHERE id = 7"
eventually "and no request stays in flight" 30 "SELECT sum(in_flight) = 0 FROM ml.worker_status()"
bridge_rests

# The TaskManager, while changes stream.
for batch in 1 2 3 4 5 6; do
  sql "UPDATE survivors SET account_length = account_length + 1 WHERE id % 6 = $batch - 1;
       INSERT INTO survivors ($EXACT_CHURN_FEATURES, churn) SELECT $EXACT_CHURN_FEATURES, churn FROM survivors WHERE id BETWEEN $batch * 10 AND $batch * 10 + 9"
  if [ "$batch" -eq 3 ]; then kill_hard taskmanager && again; fi
done
parent=$(sql "SELECT max(snapshot_id) FROM ml.snapshots WHERE relation LIKE '%survivors'")
snapshot=$(sql "SELECT ml.refresh_snapshot($parent)")
eventually "a snapshot after the TaskManager's death becomes ready" 180 "SELECT status = 'ready' FROM ml.list_snapshots() WHERE snapshot_id = $snapshot"
equals "no row of the change stream is lost or doubled" \
  "$(lake_value "SELECT CONCAT_WS(' ', CAST(COUNT(*) AS STRING), CAST(COUNT(DISTINCT id) AS STRING), CAST(SUM(account_length) AS STRING)) FROM lake.public.survivors /*+ OPTIONS('tag'='ml_snapshot_$snapshot') */")" \
  "$(sql "SELECT concat_ws(' ', count(*), count(DISTINCT id), sum(account_length)) FROM survivors")"

# The TaskManager, then the dispatcher, in the middle of a training.
kill_in_training() {
  local victim=$1 run end=$((SECONDS + 90))
  run=$(sql "SELECT run_id FROM ml.train('survivors', 'classification', 'survivors', 'churn', 'xgboost', '{\"n_estimators\": 3000}')")
  until sql "SELECT status IN ('exporting', 'training') FROM ml.run_status($run)" | grep -qx t || [ $SECONDS -gt "$end" ]; do sleep 0.2; done
  kill_hard "$victim"
  again
  eventually "a run survives the death of $victim" 240 "SELECT status = 'succeeded' FROM ml.run_status($run)"
  holds "and has one model" "SELECT count(*) = 1 FROM ml.models WHERE run_id = $run"
}
kill_in_training taskmanager
kill_in_training train

# PostgreSQL: everything finds it again by itself.
(cd "$RUN" && as_run_user "$PG_BIN/pg_ctl" -D "$RUN/pg" -l "$RUN/log/postgres.log" -m immediate -w restart >/dev/null)
eventually "predictions work after a restart of PostgreSQL" 60 "SELECT ml.predict('survivors', s) = $expected OR true FROM survivors s WHERE id = 8"
run=$(sql "SELECT run_id FROM ml.train('survivors', 'classification', 'survivors', 'churn', 'xgboost', '{\"n_estimators\": 5}')")
eventually "and training too, without any help" 240 "SELECT status = 'succeeded' FROM ml.run_status($run)"
