#!/usr/bin/env bash
# Hours in minutes: many sessions on several models while deploys, cancels and kill -9 of the gateway and of sessions come
# at random; then a calm in which nothing may fail and nothing may grow. Only with scripts/test --full.
#   MILLRACE_SOAK_SECONDS  how long, default 1800; two thirds of it are the storm
#   MILLRACE_SOAK_SEED     the sequence of random events, default a new one, which is printed; how many there are, and when,
#                          depends on the machine
# Time limit: ${MILLRACE_SOAK_SECONDS:-1800} + 900 s
. "$(dirname "$0")/lib.sh"
. "$CHECKOUT/scripts/lib/model-copies.sh"

SOAK_SECONDS=${MILLRACE_SOAK_SECONDS:-1800}
if [ -z "$FULL" ]; then exit 0; fi

SESSIONS=12
SEED=${MILLRACE_SOAK_SEED:-$(((RANDOM << 15) + RANDOM))}
RANDOM=$SEED
printf '#   seed %s, %s s\n' "$SEED" "$SOAK_SECONDS"

WARM_SECONDS=60       # until the JVM of a gateway has compiled what it will
ANSWERS_PER_SECOND=20 # of each kind of sessions, at the least; two processors give thousands
SECONDS_PER_DECK=300  # in which one deck of events is dealt, at the most; two processors need less than 100
DECK=("8 deploys" "4 cancels" "3 terminates" "2 gateway-kills" "1 gateway-restarts" "2 session-kills")

# Three projects with two models each: two trained, one imported, which has native memory.
make_models() {
  local project model
  forget_soak_copies
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
  all_answers=$((all_answers + $(count 'answers plain' "$2") + $(count 'answers waiting' "$2")))
  all_wrong=$((all_wrong + $(count wrong "$2")))
}

sessions() { sql "SELECT pid FROM pg_stat_activity WHERE usename = 'millrace_soak' ORDER BY pid"; }
models() { sql "SELECT model_id FROM ml.list_models() WHERE project LIKE 'soak %' AND uri NOT LIKE '%-copy-%' ORDER BY model_id"; }

# picked NUMBER <LINES: one of the lines; fails when there is none. The number is drawn before: a subshell has a RANDOM of its own.
picked() { awk -v number="$1" '{ line[NR] = $0 } END { if (!NR) exit 1; print line[number % NR + 1] }'; }

# within SECONDS CMD..: tries again until the command succeeds; fails when it never did.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.2
  done
}

# By hand, as a service manager does; scripts/start would look after everything else too.
restart_gateway() {
  local pid end=$((SECONDS + 30))
  pid=$(process_pid gateway) || return 1
  kill "-$1" "$pid" || return 1
  while start_time "$pid" >/dev/null; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.05
  done
  start_gateway >/dev/null || return 1
  # Less than sessions wait for it; beside so many of them it has little of the processor.
  (wait_until "the gateway to serve" 140 gateway "$RUN/log/gateway.out" gateway_serves) >/dev/null
}

# A session that ends just before it is hit was none: another one is.
kill_any() {
  local pid
  pid=$(sessions | picked "$1") && kill -KILL "$pid"
}
signal_any() {
  local pid
  pid=$(sessions | picked "$2") && [ "$(sql "SELECT $1($pid)")" = t ]
}

database_answers() { sql "SELECT 1" >/dev/null 2>&1; }
kill_session() {
  within 30 kill_any "$1" || return 1
  # PostgreSQL ends every session, and recovers.
  sleep 0.3
  within 60 database_answers
}

# deploy_any NUMBER
deploy_any() {
  local model
  model=$(models | picked "$1") && sql "SELECT ml.deploy($model::bigint)" >/dev/null
}

# happen KIND NUMBER: fails when nothing was done.
happen() {
  case $1 in
    deploys) deploy_any "$2" ;;
    cancels) within 30 signal_any pg_cancel_backend "$2" ;;
    terminates) within 30 signal_any pg_terminate_backend "$2" ;;
    gateway-kills) restart_gateway KILL ;;
    gateway-restarts) restart_gateway TERM ;;
    session-kills) kill_session "$2" ;;
    *) die "no such event: $1" ;;
  esac
}

# A deck with the events of DECK in random order, in $cards.
shuffle() {
  local kind number other card
  cards=()
  for kind in "${DECK[@]}"; do
    for ((number = 0; number < ${kind% *}; number++)); do cards+=("${kind#* }"); done
  done
  for ((number = ${#cards[@]} - 1; number > 0; number--)); do
    other=$((RANDOM % (number + 1)))
    card=${cards[number]}
    cards[number]=${cards[other]}
    cards[other]=$card
  done
}

# Deals whole decks, so each kind of event has its share in every storm. What succeeds is counted in $happened by kind.
declare -A happened=()
one_more() { happened[$1]=$((${happened[$1]:-0} + 1)); }
storm() {
  local end=$((SECONDS + $1)) card pause number
  failures=
  while [ "$SECONDS" -lt "$end" ]; do
    shuffle
    for card in "${cards[@]}"; do
      pause=$((RANDOM % 2)).$((RANDOM % 10))
      number=$RANDOM
      sleep "$pause"
      if happen "$card" "$number" 2>>"$RUN/log/soak.err"; then one_more "$card"; else failures+="$card "; fi
    done
  done
}

# The events that came less often than the storm's length asks for.
rare_events() {
  local kind name needed
  for kind in "${DECK[@]}"; do
    name=${kind#* }
    needed=$((${kind% *} * (1 + storm_seconds / SECONDS_PER_DECK)))
    [ "${happened[$name]:-0}" -ge "$needed" ] || printf '%s of %s %s, ' "${happened[$name]:-0}" "$needed" "$name"
  done
}

# count NAME FILE: a number that the load printed.
count() { sed -n "s/^$1 \([0-9]*\)$/\1/p" "$2"; }

# errors_but KIND ORIGINS SQLSTATE.. <FILE: the errors of sessions of a kind that are of another origin (origins are gateway and
# other, separated by |) or have any other SQLSTATE.
errors_but() {
  local kind=$1 origins=$2
  shift 2
  grep "^error $kind " | grep -vE "^error $kind ($origins) ($(IFS='|' && echo "$*")) " || true
}

# answers_were_right WHEN FILE SECONDS: what holds of the load in storm and calm, which lasted so long.
answers_were_right() {
  local kind answers
  for kind in plain waiting; do
    answers=$(count "answers $kind" "$2")
    equals "$1: $kind sessions had their answers" "$([ "$answers" -ge $((ANSWERS_PER_SECOND * $3)) ] && echo yes || echo "$answers in $3 s")" yes
  done
  equals "$1: no answer was wrong" "$(count wrong "$2")$(grep -m 5 '^wrong answer' "$2")" 0
  equals "$1: no statement hung" "$([ "$(count slowest-millis "$2")" -lt 200000 ] && echo yes)" yes
  printf '#   %s: %s and %s answers in %s s, the slowest statement took %s ms\n' "$1" "$(count 'answers plain' "$2")" \
    "$(count 'answers waiting' "$2")" "$3" "$(count slowest-millis "$2")"
  sed -n 's/^error /#   errors: /p' "$2" | cut -c 1-200
}

gateway_descriptors() { find "/proc/$(process_pid gateway)/fd" -mindepth 1 2>/dev/null | wc -l; }

region_generations() {
  find "$REGION" -mindepth 1 -maxdepth 1 \( -name 'lines-*' -o -name 'req-*' -o -name 'resp-*' -o -name 'payload-*' \) |
    sed 's/.*-//; s/[.].*//' | sort | uniq -c | awk '{ print $1 }'
}
half_fetched() { find "$RUN/cache" -maxdepth 1 -name '.fetch*'; }
left_libraries() { find "${TMPDIR:-/tmp}" -maxdepth 2 -user "$(run_user)" -newer "$RUN/tmp/soak-begin" -name '*.so*' 2>/dev/null || true; }

nothing_is_left() {
  bridge_rests
  equals "the region has the files of one generation" "$(region_generations)" 4
  equals "no package is half fetched" "$(half_fetched)" ""
  equals "no native library is left in the temporary directory" "$(left_libraries)" ""
}

# What an operator asks first, in one place.
print_summary() {
  local name
  printf '#   summary: %s answers, %s wrong; events:' "$all_answers" "$all_wrong"
  for name in "${!happened[@]}"; do printf ' %s %s' "${happened[$name]}" "$name"; done
  printf '\n#   summary: slots %s free + %s used; files left: %s payloads, %s half fetched, %s native libraries\n' \
    "$(gateway_metric millrace_slots_free)" "$(gateway_metric millrace_slots_used)" "$(find "$REGION"/payload-* -type f | wc -l)" \
    "$(half_fetched | wc -l)" "$(left_libraries | wc -l)"
  printf '#   summary: the gateway took %s kB before and %s kB after %s deploys, of its Java heap %s and %s kB were alive\n' \
    "$before" "$after" "$calm_deploys" "$live_before" "$live_after"
}

forget_soak_copies() {
  local copies
  mapfile -t copies < <(sql "SELECT model_id FROM ml.list_models() WHERE project = 'soak churn' AND uri LIKE '%-copy-%'")
  [ ${#copies[@]} -gt 0 ] || return 0
  sql "SELECT ml.deploy(min(model_id)) FROM ml.list_models() WHERE project = 'soak churn' AND uri NOT LIKE '%-copy-%'" >/dev/null
  forget_copies "${copies[@]}"
}

# However the soak ends, the platform is as it was: a gateway that serves, with the configuration of the platform.
clean_up() {
  [ -z "${load:-}" ] || kill "$load" 2>/dev/null || true
  rm -f "$out" "$RUN/tmp/soak-runs"
  within 60 database_answers && forget_soak_copies || say "copies of models are left"
  start_gateway_again
}

make_models
make_role
out=$(mktemp)
trap clean_up EXIT
as_run_user touch "$RUN/tmp/soak-begin"

all_answers=0
all_wrong=0
storm_seconds=$((SOAK_SECONDS * 2 / 3))
begin=$SECONDS
begin_load "$out"
storm "$storm_seconds"
took=$((SECONDS - begin))
end_load storm "$out"
printf '#   events:'
for name in "${!happened[@]}"; do printf ' %s %s' "${happened[$name]}" "$name"; done
echo
equals "storm: whatever happened succeeded" "$failures$([ -z "$failures" ] || tail -n 3 "$RUN/log/soak.err")" ""
equals "storm: each kind of event happened often enough" "$(rare_events)" ""
answers_were_right storm "$out" "$took"
# Cancelled, terminated, a session killed beside it, a database that recovers; of the gateway: away, lost, shutting down.
allowed=(57014 57P01 57P02 57P03 08001 08003 08006)
equals "storm: sessions fail with nothing but what was done to them" "$(errors_but plain 'gateway|other' "${allowed[@]}" <"$out")" ""
equals "storm: who waits for a restart fails with nothing but what the database does" \
  "$(errors_but waiting other "${allowed[@]}" <"$out")" ""
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
# deploy_copies FROM TO: one after the other, each asked once, so that each is loaded; $least is the least resident memory.
deploy_copies() {
  local copy answer
  least=
  for ((copy = $1; copy < $2; copy++)); do
    sql "SELECT ml.deploy(${copies[copy]}::bigint)" >/dev/null
    one_more deploys
    answer=$(sql "SELECT ml.predict('soak churn', t) = e.prediction FROM soak_churn_asked t JOIN soak_expected e USING (id)
      WHERE id = 1 AND e.model_id = ${copies[copy]}")
    [ "$answer" = t ] || other_answers+="${copies[copy]} "
    note_memory
  done
}

# deploy_until END: what was deployed before, once in a second, until so many seconds since the start of this script.
deploy_until() {
  local number
  while [ "$SECONDS" -lt "$1" ]; do
    number=$RANDOM
    deploy_any "$number"
    one_more deploys
    sleep 1
  done
}

make_copies
start_gateway_of_few_models
other_answers=
begin=$SECONDS
begin_load "$out"
sixth=$((calm_deploys / 6))
deploy_copies 0 $sixth
deploy_until $((begin + WARM_SECONDS))
deploy_copies $sixth $((2 * sixth))
before=$least
live_before=$(live_heap_kilobytes)
descriptors=$(gateway_descriptors)
deploy_copies $((2 * sixth)) $((5 * sixth))
deploy_copies $((5 * sixth)) "$calm_deploys"
after=$least
live_after=$(live_heap_kilobytes)
flat "calm: the gateway's memory stays within 5 %" "$before" "$after"
flat "calm: what is alive on its Java heap too" "$live_before" "$live_after"
equals "calm: its descriptors too" "$([ "$(gateway_descriptors)" -le $((descriptors + 8)) ] && echo yes || gateway_descriptors)" yes
equals "calm: each model that was deployed answered" "$other_answers" ""
equals "calm: after it was loaded" "$([ "$(loads)" -ge "$calm_deploys" ] && echo yes || loads)" yes
deploy_until $((begin + SOAK_SECONDS - storm_seconds))
took=$((SECONDS - begin))
end_load calm "$out"
answers_were_right calm "$out" "$took"
equals "calm: nothing but statement_timeout ends a statement" "$(errors_but plain other 57014 <"$out")$(errors_but waiting other 57014 <"$out")" ""
nothing_is_left
print_summary
