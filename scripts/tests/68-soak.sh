#!/usr/bin/env bash
# Hours in minutes: many sessions on several models while deploys, cancels and kill -9 of the gateway and of sessions come
# at random; then a calm in which nothing may fail and nothing may grow. Only with scripts/test --full.
#   MILLRACE_SOAK_SECONDS  how long, default 1800; two thirds of it are the storm
#   MILLRACE_SOAK_SEED     which random events, default a new one, which is printed
# Time limit: ${MILLRACE_SOAK_SECONDS:-1800} + 900 s
. "$(dirname "$0")/lib.sh"
. "$CHECKOUT/scripts/lib/model-copies.sh"

SOAK_SECONDS=${MILLRACE_SOAK_SECONDS:-1800}
if [ -z "$FULL" ]; then exit 0; fi

SESSIONS=12
SEED=${MILLRACE_SOAK_SEED:-$(((RANDOM << 15) + RANDOM))}
RANDOM=$SEED
printf '#   seed %s, %s s\n' "$SEED" "$SOAK_SECONDS"

# Three projects with two models each: two trained, one imported, which has native memory.
make_models() {
  local project model
  for project in "soak churn" "soak rings" "soak line"; do forget_project "$project"; done
  make_churn_table soak_churn
  psql_as_owner -d "$DATABASE" <<'SQL'
DROP TABLE IF EXISTS soak_rings, soak_line, soak_churn_asked, soak_expected, soak_projects;
CREATE TABLE soak_rings AS SELECT i AS id, sin(i) AS a, cos(i) AS b, (i % 7)::float8 AS c,
  CASE WHEN sin(i) > 0.3 THEN 'inner' WHEN cos(i) > 0 THEN 'middle' ELSE 'outer' END AS label FROM generate_series(1, 500) i;
ALTER TABLE soak_rings ADD PRIMARY KEY (id), ALTER label SET NOT NULL;
CREATE TABLE soak_churn_asked AS SELECT * FROM soak_churn WHERE id <= 500;
CREATE TABLE soak_line AS SELECT id, a, b, c FROM soak_rings;
CREATE TABLE soak_projects (name text, relation text, features text, has_classes bool);
INSERT INTO soak_projects VALUES ('soak churn', 'soak_churn_asked', 't', true),
  ('soak rings', 'soak_rings', 'ARRAY[t.a, t.b, t.c]', true), ('soak line', 'soak_line', 'ARRAY[t.a, t.b, t.c]', false);
CREATE TABLE soak_expected (model_id bigint, id bigint, prediction float8, proba float8[], label text);
SQL
  train "soak churn" soak_churn churn '{"n_estimators": 60}' >/dev/null
  train "soak churn" soak_churn churn '{"n_estimators": 5, "max_depth": 2}' >/dev/null
  train "soak rings" soak_rings label '{"n_estimators": 20}' >/dev/null
  train "soak rings" soak_rings label '{"n_estimators": 3, "max_depth": 2}' >/dev/null
  put_plain_model plain.onnx
  sql "SELECT ml.create_project('soak line', 'regression');
    SELECT ml.import_model('soak line', '$(import_uri plain.onnx)');
    SELECT ml.import_model('soak line', '$(import_uri plain.onnx)', options => '{\"features\": [\"a\", \"b\", \"c\"]}')" >/dev/null
  for model in $(sql "SELECT model_id FROM ml.list_models() WHERE project LIKE 'soak %'"); do expect_answers "$model"; done
}

# What a model says of every row, each way to ask.
expect_answers() {
  local project relation features classes answers="NULL, NULL"
  sql "SELECT ml.deploy($1::bigint)" >/dev/null
  IFS='|' read -r project relation features classes < <(sql "SELECT p.* FROM soak_projects p JOIN ml.list_models() m ON m.project = p.name WHERE m.model_id = $1")
  [ "$classes" != t ] || answers="ml.predict_proba('$project', $features), ml.predict_class('$project', $features)"
  sql "INSERT INTO soak_expected SELECT $1, id, ml.predict('$project', $features), $answers FROM $relation t" >/dev/null
}

# The load logs in by TCP, as a role of its own that may use every project.
make_role() {
  local file=$RUN/secret/soak-password
  [ -s "$file" ] || make_password soak
  printf "\\\\set password '%s'\n%s\n" "$(<"$file")" "
    SELECT 'CREATE ROLE millrace_soak LOGIN' WHERE to_regrole('millrace_soak') IS NULL \\gexec
    ALTER ROLE millrace_soak PASSWORD :'password';
    GRANT ml_admin TO millrace_soak;
    GRANT EXECUTE ON FUNCTION ml._echo(bytea) TO millrace_soak;
    GRANT SELECT ON soak_projects, soak_expected, soak_churn_asked, soak_rings, soak_line TO millrace_soak;" |
    (cd / && psql_as_owner -d "$DATABASE")
}

# begin_load OUTPUT: the sessions, in the background; the pid in $load.
begin_load() {
  as_run_user touch "$RUN/tmp/soak-runs"
  as_run_user tee "$RUN/tmp/SoakLoad.java" >/dev/null <"$CHECKOUT/scripts/tests/SoakLoad.java"
  (cd / && exec "${RUN_AS[@]}" "$JAVA" -Xmx256m -XX:+UseSerialGC -cp "$(ls "$RUN"/lib/gateway/postgresql-*.jar)" "$RUN/tmp/SoakLoad.java" \
    "jdbc:postgresql://127.0.0.1:$(port postgres)/$DATABASE" millrace_soak "$RUN/secret/soak-password" "$SESSIONS" "$SEED" "$RUN/tmp/soak-runs") >"$1" 2>&1 &
  load=$!
}

# end_load WHEN OUTPUT
end_load() {
  rm -f "$RUN/tmp/soak-runs"
  if ! wait "$load"; then not_ok "$1: the load failed" "$(tail -n 5 "$2")"; fi
  load=
}

sessions() { sql "SELECT pid FROM pg_stat_activity WHERE usename = 'millrace_soak' ORDER BY pid"; }
random_session() { sessions | awk -v random="$RANDOM" '{ pid[NR] = $1 } END { if (NR) print pid[random % NR + 1] }'; }

# By hand, as a service manager does; scripts/start would look after everything else too.
restart_gateway() {
  local pid end=$((SECONDS + 30))
  pid=$(process_pid gateway)
  kill "-$1" "$pid"
  while start_time "$pid" >/dev/null && [ "$SECONDS" -lt "$end" ]; do sleep 0.05; done
  start_gateway >/dev/null
  wait_until "the gateway to serve" 90 gateway "$RUN/log/gateway.out" gateway_serves >/dev/null
}

kill_session() {
  local pid end=$((SECONDS + 60))
  pid=$(random_session)
  [ -n "$pid" ] || return 0
  kill -KILL "$pid" || return 0
  # PostgreSQL ends every session, and recovers.
  sleep 0.3
  until sql "SELECT 1" >/dev/null 2>&1 || [ "$SECONDS" -gt "$end" ]; do sleep 0.2; done
}

deploy_any() {
  local model
  model=$(sql "SELECT model_id FROM ml.list_models() WHERE project LIKE 'soak %' AND uri NOT LIKE '%-copy-%' ORDER BY model_id" |
    awk -v random="$RANDOM" '{ id[NR] = $1 } END { print id[random % NR + 1] }')
  sql "SELECT ml.deploy($model::bigint)" >/dev/null
}

declare -A happened=()
# event NAME CMD..: counts what succeeds; a session that has just gone is no event.
event() {
  local name=$1
  shift
  if "$@" 2>>"$RUN/log/soak.err"; then happened[$name]=$((${happened[$name]:-0} + 1)); else failures+="$name "; fi
}
signal_session() {
  local pid
  pid=$(random_session)
  [ -z "$pid" ] || sql "SELECT $1($pid)" >/dev/null
}

storm() {
  local end=$((SECONDS + $1)) dice
  failures=
  while [ "$SECONDS" -lt "$end" ]; do
    sleep "$((RANDOM % 2)).$((RANDOM % 10))"
    dice=$((RANDOM % 100))
    if [ "$dice" -lt 45 ]; then
      event deploys deploy_any
    elif [ "$dice" -lt 65 ]; then
      event cancels signal_session pg_cancel_backend
    elif [ "$dice" -lt 80 ]; then
      event terminates signal_session pg_terminate_backend
    elif [ "$dice" -lt 87 ]; then
      event gateway-kills restart_gateway KILL
    elif [ "$dice" -lt 92 ]; then
      event gateway-restarts restart_gateway TERM
    else
      event session-kills kill_session
    fi
  done
}

# count NAME FILE: a number that the load printed.
count() { sed -n "s/^$1 \([0-9]*\)$/\1/p" "$2"; }

# errors_but KIND SQLSTATE.. <FILE: the errors of sessions of a kind with any other SQLSTATE.
errors_but() {
  local kind=$1
  shift
  grep "^error $kind " | grep -vE "^error $kind ($(IFS='|' && echo "$*")) " || true
}

# claims WHEN FILE: what holds of the load in storm and calm.
answers_were_right() {
  equals "$1: no answer was wrong" "$(count wrong "$2")$(grep -m 5 '^wrong answer' "$2")" 0
  equals "$1: no statement hung" "$([ "$(count slowest-millis "$2")" -lt 200000 ] && echo yes)" yes
  printf '#   %s: %s answers, the slowest statement took %s ms\n' "$1" "$(count answers "$2")" "$(count slowest-millis "$2")"
  sed -n 's/^error /#   errors: /p' "$2" | cut -c 1-200
}

# The gateway's resident memory after a collection, in kB.
gateway_kilobytes() {
  local pid
  pid=$(process_pid gateway)
  as_run_user "$JAVA_HOME/bin/jcmd" "$pid" GC.run >/dev/null
  sleep 1
  awk '/^VmRSS/ { print $2 }' "/proc/$pid/status"
}
gateway_descriptors() { find "/proc/$(process_pid gateway)/fd" -mindepth 1 2>/dev/null | wc -l; }

nothing_is_left() {
  bridge_rests
  equals "the region has the files of one generation" \
    "$(find "$REGION" -mindepth 1 -maxdepth 1 \( -name 'lines-*' -o -name 'req-*' -o -name 'resp-*' -o -name 'payload-*' \) | sed 's/.*-//; s/[.].*//' | sort | uniq -c | awk '{ print $1 }')" 4
  equals "no package is half fetched" "$(find "$RUN/cache" -maxdepth 1 -name '.fetch*' | wc -l)" 0
  equals "no native library is left in the temporary directory" \
    "$(find "${TMPDIR:-/tmp}" -maxdepth 2 -user "$(run_user)" -newer "$RUN/tmp/soak-begin" -name '*.so*' 2>/dev/null | wc -l)" 0
}

make_models
make_role
as_run_user touch "$RUN/tmp/soak-begin"
out=$(mktemp)
trap '[ -z "${load:-}" ] || kill "$load" 2>/dev/null; rm -f "$out" "$RUN/tmp/soak-runs"' EXIT

storm_seconds=$((SOAK_SECONDS * 2 / 3))
begin_load "$out"
storm "$storm_seconds"
end_load storm "$out"
printf '#   events:'
for name in "${!happened[@]}"; do printf ' %s %s' "${happened[$name]}" "$name"; done
echo
equals "storm: whatever happened succeeded" "$failures$([ -z "$failures" ] || tail -n 3 "$RUN/log/soak.err")" ""
answers_were_right storm "$out"
# Cancelled, terminated, a session killed beside it, a database that recovers; of the gateway: away, lost, shutting down.
allowed=(57014 57P01 57P02 57P03 08001 08003 08006)
equals "storm: sessions fail with nothing but what was done to them" "$(errors_but plain "${allowed[@]}" <"$out")" ""
equals "storm: who waits for a restart fails with nothing but what the database does" \
  "$(errors_but waiting "${allowed[@]}" <"$out")$(grep '^error waiting .*gateway' "$out" || true)" ""
nothing_is_left

# The calm: nothing but deploys, each of a model that is new to a gateway whose memory holds a few. Nothing may fail or grow.
calm_deploys=$((SOAK_SECONDS < 600 ? 36 : 240))
copies=()
make_copies() {
  local model copy
  model=$(sql "SELECT min(model_id) FROM ml.list_models('soak churn')")
  for ((copy = 0; copy < calm_deploys; copy++)); do copies+=("$(copy_model "$model")"); done
  sql "INSERT INTO soak_expected SELECT m.model_id, e.id, e.prediction, e.proba, e.label
    FROM ml.list_models('soak churn') m, soak_expected e WHERE m.uri LIKE '%-copy-%' AND e.model_id = $model" >/dev/null
}
# deploy_copies FROM TO
deploy_copies() {
  local copy
  for ((copy = $1; copy < $2; copy++)); do sql "SELECT ml.deploy(${copies[copy]}::bigint)" >/dev/null; done
}

make_copies
configuration=$RUN/conf/gateway.properties
as_run_user sed -i.whole 's/^cache-bytes=.*/cache-bytes=2097152/' "$configuration"
restart_gateway TERM
begin=$SECONDS
begin_load "$out"
deploy_copies 0 $((calm_deploys / 6))
before=$(gateway_kilobytes)
descriptors=$(gateway_descriptors)
deploy_copies $((calm_deploys / 6)) "$calm_deploys"
after=$(gateway_kilobytes)
printf '#   calm: %s deploys, the gateway took %s kB before and %s kB after, %s and %s descriptors\n' \
  $((calm_deploys * 5 / 6)) "$before" "$after" "$descriptors" "$(gateway_descriptors)"
equals "calm: the gateway's memory stays within 5 %" "$([ $((after * 100)) -le $((before * 105)) ] && echo yes || echo "$before kB, then $after kB")" yes
equals "calm: its descriptors too" "$([ "$(gateway_descriptors)" -le $((descriptors + 8)) ] && echo yes || gateway_descriptors)" yes
equals "calm: each deploy loaded its model" "$([ "$(loads)" -ge "$calm_deploys" ] && echo yes || loads)" yes
while [ $((SECONDS - begin)) -lt $((SOAK_SECONDS - storm_seconds)) ]; do
  deploy_any
  sleep 1
done
end_load calm "$out"
answers_were_right calm "$out"
equals "calm: nothing but statement_timeout ends a statement" "$(errors_but plain 57014 <"$out")$(errors_but waiting 57014 <"$out")" ""
nothing_is_left
mv "$configuration.whole" "$configuration"
restart_gateway TERM
sql "SELECT ml.deploy((SELECT min(model_id) FROM ml.list_models('soak churn')))" >/dev/null
forget_copies "${copies[@]}"
