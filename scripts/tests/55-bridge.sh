#!/usr/bin/env bash
# The bridge between sessions and gateway: payloads of any size, a stopped gateway, restarts under load.
. "$(dirname "$0")/lib.sh"

# Payloads: what fits a slab of 131072 bytes with the header of 48 before it, one byte more, and much more; the answer's is 32.
holds "an echo of every size comes back the same" "
  SELECT bool_and(ml._echo(bytes) = bytes)
  FROM (VALUES (0), (1), (131023), (131024), (131025), (131040), (131041), (16777216), (67108864)) AS lengths(length),
    LATERAL (SELECT convert_to(repeat('x', length), 'UTF8') AS bytes) AS payload"
fails "one byte more than 64 MiB is refused" 54000 "SELECT ml._echo(convert_to(repeat('x', 67108865), 'UTF8'))"

forget_project large
psql_as_owner -d "$DATABASE" <<'SQL'
DROP TABLE IF EXISTS large;
CREATE TABLE large (id bigint PRIMARY KEY, a float8, b float8, c float8, label text NOT NULL);
INSERT INTO large SELECT i, sin(i), cos(i), i % 7, CASE WHEN sin(i) > 0 THEN 'yes' ELSE 'no' END FROM generate_series(1, 600) i;
SQL
train large large label '{"n_estimators": 10}' >/dev/null
ask="SELECT ml.predict('large', l) FROM large l WHERE id = 7"
expected=$(sql "$ask")
holds "a row of 20 MiB is predicted as without its ballast" "
  SELECT ml.predict('large', row_of) = $expected
  FROM (SELECT l.*, repeat('x', 20971520) AS ballast FROM large l WHERE id = 7) AS row_of"
holds "a batch of an array that exceeds a slab many times" "
  SELECT count(*) = 60000 AND bool_and(abs(answer - $expected) < 1e-9)
  FROM ml.predict_batch('large', (SELECT array_agg(ARRAY[a, b, c]) FROM large, generate_series(1, 60000) WHERE id = 7)) AS answer"
sql "DROP TABLE IF EXISTS ballasted; CREATE TABLE ballasted AS SELECT l.*, repeat('x', 300000) AS ballast FROM large l WHERE id <= 20" >/dev/null
holds "a batch of a table whose rows exceed a slab" "
  SELECT count(*) = 20 AND bool_and(p.prediction = ml.predict('large', l))
  FROM ml.predict_batch('large', 'ballasted', 'id') p JOIN large l ON l.id = p.key::bigint"
bridge_rests

# A gateway that is stopped: its heartbeat ends, and so does the wait, with the right error; then it goes on.
heartbeat_limit=$(sed -n 's/^heartbeat-limit-millis=//p' "$RUN/conf/gateway.properties")
kill -STOP "$(process_pid gateway)"
begin=$(date +%s%N)
answer=$(psql_as_owner -d "$DATABASE" -At -v VERBOSITY=verbose -c "SELECT ml._echo('x')" 2>&1 || true)
millis=$((($(date +%s%N) - begin) / 1000000))
kill -CONT "$(process_pid gateway)"
case $answer in
  *"ERROR:  57P03: "*) ok "a stopped gateway is an error with SQLSTATE 57P03" ;;
  *) not_ok "a stopped gateway is an error with SQLSTATE 57P03" "$answer" ;;
esac
equals "within the heartbeat's limit and a second more" "$([ "$millis" -lt $((heartbeat_limit + 1000)) ] && echo yes || echo "$millis ms")" yes
eventually "and answers again when it goes on" 10 "SELECT ml._echo('x') = 'x'"

# Restarts under load: with ml.restart_wait_ms no client sees one.
restarts_under_load() {
  local claim=$1 signal=$2 script out load
  script=$(as_run_user mktemp "$RUN/tmp/restart.XXXXXX")
  out=$script.out
  as_run_user tee "$script" >/dev/null <<<"$ask;"
  (exec "${RUN_AS[@]}" env PGOPTIONS="-c ml.restart_wait_ms=120s -c ml.timeout_ms=150s" "$PG_BIN/pgbench" -h "$(socket_dir)" \
    -p "$(port postgres)" -U postgres -n -c 32 -j 2 -T 30 -f "$script" "$DATABASE" >"$out" 2>&1) &
  load=$!
  sleep 3
  kill "-$signal" "$(process_pid gateway)"
  while process_running gateway; do sleep 0.1; done
  "$CHECKOUT/scripts/start" >"$RUN/log/restart.out" 2>&1 || not_ok "scripts/start" "$(tail -n 3 "$RUN/log/restart.out")"
  if wait "$load"; then ok "$claim: no client failed"; else not_ok "$claim: clients failed" "$(grep -v '^progress' "$out" | head -n 5)"; fi
  equals "$claim: no transaction failed" "$(sed -n 's/^number of failed transactions: \([0-9]*\).*/\1/p' "$out")" 0
  printf '#   %s\n' "$(grep '^tps' "$out")"
  rm -f "$script" "$out"
}
restarts_under_load "32 clients over a restart" TERM
restarts_under_load "32 clients over a kill" KILL

# The model was in memory before the gateway served: nobody had to wait for it.
kill -KILL "$(process_pid gateway)"
"$CHECKOUT/scripts/start" >"$RUN/log/restart.out" 2>&1
before=$(loads)
equals "a restarted gateway predicts the same" "$(sql "$ask")" "$expected"
equals "without loading the model" "$(loads)" "$before"
equals "since it was loaded before" "$([ "$before" -ge 1 ] && echo yes)" yes
bridge_rests

small=$RUN/tmp/small
leave_small_region() {
  trap - EXIT
  end_process small-gateway 5 >/dev/null
  umount -l "$small/region"
  rm -rf "$small" "$small.out" "$small.sql"
}

# A tmpfs that is full: sessions that need memory of it get an error, and nothing else happens. Mounting one takes root.
full_region() {
  local out=$small.out deadline
  as_run_user mkdir -p "$small/region" "$small/conf"
  mount -t tmpfs -o "size=160m,mode=0750,uid=$(id -u millrace),gid=$(id -g millrace)" millrace-small "$small/region" || {
    printf '#   no tmpfs can be mounted here\n'
    return 0
  }
  trap leave_small_region EXIT
  as_run_user cp "$RUN/conf/store.properties" "$small/conf/"
  as_run_user sed -e "s|^region-directory=.*|region-directory=$small/region|" -e "s|^cache-directory=.*|cache-directory=$small/cache|" \
    -e 's/^http-port=.*/http-port=/' -e 's/^metrics-port=.*/metrics-port=0/' "$RUN/conf/gateway.properties" |
    as_run_user tee "$small/conf/gateway.properties" >/dev/null
  spawn small-gateway "$JAVA" "@$RUN/lib/gateway/gateway.jvmflags" -cp "$RUN/lib/gateway/*" io.millrace.gateway.GatewayMain --conf "$small/conf"
  deadline=$((SECONDS + 60))
  until [ -e "$small/region/layout.bin" ] || [ "$SECONDS" -gt "$deadline" ]; do sleep 0.1; done
  # The region needed its room only to be made. All but 8 MiB of it is taken by somebody else.
  as_run_user fallocate -l "$(df --output=avail -B1 "$small/region" | awk 'NR == 2 { print $1 - 8388608 }')" "$small/region/filler"
  psql_as_owner -d "$DATABASE" -c "DROP TABLE IF EXISTS survives; CREATE UNLOGGED TABLE survives AS SELECT 1"
  # Each session keeps its slots while the others take theirs.
  as_run_user tee "$small.sql" >/dev/null <<<"SELECT ml._echo('x'); SELECT pg_sleep(3);"
  as_run_user env PGOPTIONS="-c ml.region_dir=$small/region" "$PG_BIN/pgbench" -h "$(socket_dir)" -p "$(port postgres)" -U postgres \
    -n -c 100 -j 2 -t 1 -f "$small.sql" "$DATABASE" >"$out" 2>&1 || true
  equals "a full tmpfs is an error of who needs more of it" \
    "$(grep -qE 'ERROR: +the region of the gateway has no memory for a' "$out" && echo yes || tail -n 3 "$out")" yes
  equals "and of nobody else" "$(grep ERROR "$out" | grep -cv 'has no memory for a')" 0
  # An unlogged table is empty after a crash.
  holds "no session died of it" "SELECT count(*) = 1 FROM survives"
  equals "nor the gateway" "$(process_running small-gateway && echo yes)" yes
  leave_small_region
}
if is_root && [ -n "$FULL" ]; then full_region; fi
