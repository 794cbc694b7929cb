# shellcheck shell=bash
# For the end-to-end tests: each claim prints one line, "ok - claim" or "not ok - claim" with the reason below it.
. "$(dirname "${BASH_SOURCE[0]}")/../lib/platform.sh"
require_run_dir
use_jdk
export PGOPTIONS="-c client_min_messages=warning"

FULL=${MILLRACE_TEST_FULL:-}
EXACT_CHURN_FEATURES="state, account_length, area_code, international_plan, voice_mail_plan, number_vmail_messages, \
total_day_minutes, total_day_calls, total_day_charge, total_eve_minutes, total_eve_calls, total_eve_charge, \
total_night_minutes, total_night_calls, total_night_charge, total_intl_minutes, total_intl_calls, total_intl_charge, \
number_customer_service_calls"

ok() { printf 'ok - %s\n' "$1"; }
not_ok() {
  printf 'not ok - %s\n' "$1"
  shift
  printf '#   %s\n' "$@" | cut -c 1-2000
}

# equals CLAIM ACTUAL EXPECTED
equals() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "expected: $3" "actual:   $2"; fi; }

# holds CLAIM SQL: the query answers t.
holds() { equals "$1" "$(sql_or_error "$2")" t; }

# The value of a query, or its error text.
sql_or_error() { sql "$1" 2>&1 || true; }

# fails CLAIM SQLSTATE SQL: the statement fails with that SQLSTATE.
fails() {
  local answer
  answer=$(psql_as_owner -d "$DATABASE" -At -v VERBOSITY=verbose -c "$3" 2>&1 || true)
  case $answer in
    *"ERROR:  $2: "*) ok "$1" ;;
    *) not_ok "$1" "expected SQLSTATE $2 from: $3" "actual: $answer" ;;
  esac
}

# eventually CLAIM SECONDS SQL: the query answers t within the bound.
eventually() {
  local end=$((SECONDS + $2)) answer=
  while [ $SECONDS -lt "$end" ]; do
    answer=$(sql_or_error "$3")
    if [ "$answer" = t ]; then
      ok "$1"
      return
    fi
    sleep 0.3
  done
  not_ok "$1" "not within $2 s: $3" "last answer: $answer"
}

# gateway_metric NAME: a metric of the gateway that has no labels.
gateway_metric() { curl --silent "http://127.0.0.1:$(port gateway-metrics)/metrics" | awk -v name="$1" '$1 == name { printf "%d\n", $2 }'; }

# The region at rest: each of the 512 slots is free and no payload is left. The sweeper looks twice a second.
bridge_rests() {
  local end=$((SECONDS + 10)) slots='' payloads=''
  while [ $SECONDS -lt "$end" ]; do
    slots="$(gateway_metric millrace_slots_free) free + $(gateway_metric millrace_slots_used) used"
    payloads=$(find "$REGION"/payload-* -type f | wc -l)
    if [ "$slots, $payloads" = "512 free + 0 used, 0" ]; then
      ok "every slot is free and no payload is left"
      return
    fi
    sleep 0.3
  done
  not_ok "every slot is free and no payload is left" "slots: $slots" "payloads: $payloads"
}

# Models that the gateway has loaded since its start.
loads() { curl --silent "http://127.0.0.1:$(port gateway-metrics)/metrics" | awk '/^millrace_model_loads_total[{]code="ok"[}]/ { sum += $2 } END { print sum + 0 }'; }

# For tests of what a gateway holds: its memory has room for a few models, so that each new one lets an older one go, and its
# Java heap is resident from the beginning (-Xms). Otherwise pages of the heap that the JVM uses for the first time would
# look like growth, for an hour.
start_gateway_of_few_models() {
  render_configuration
  as_run_user sed -i 's/^cache-bytes=.*/cache-bytes=2097152/' "$RUN/conf/gateway.properties"
  JDK_JAVA_OPTIONS=-XX:+AlwaysPreTouch replace_gateway
}

start_gateway_again() {
  render_configuration
  replace_gateway
}

replace_gateway() {
  end_process gateway 20 >/dev/null
  start_gateway >/dev/null
  wait_until "the gateway to serve" 90 gateway "$RUN/log/gateway.out" gateway_serves >/dev/null
}

# The gateway's resident memory in kB; without the region, whose slabs take theirs when they are used first.
gateway_kilobytes() { awk '/^Rss(Anon|File)/ { sum += $2 } END { print sum }' "/proc/$(process_pid gateway)/status"; }

# note_memory: $least becomes the least resident memory that was seen since it was emptied. The JVM's compiler takes up to
# 20 MB for a moment, so that one look says little.
note_memory() {
  local kilobytes
  kilobytes=$(gateway_kilobytes)
  if [ -z "$least" ] || [ "$kilobytes" -lt "$least" ]; then least=$kilobytes; fi
}

# flat CLAIM BEFORE AFTER: not more than 5 % above what it was.
flat() { equals "$1" "$([ $(($3 * 100)) -le $(($2 * 105)) ] && echo yes || echo "$2 kB, then $3 kB")" yes; }

# What is alive on the gateway's Java heap, in kB, by a collection.
live_heap_kilobytes() {
  as_run_user "$JAVA_HOME/bin/jcmd" "$(process_pid gateway)" GC.run >/dev/null
  curl --silent "http://127.0.0.1:$(port gateway-metrics)/metrics" |
    awk '/^jvm_memory_pool_collection_used_bytes[{]pool="Tenured Gen"[}]/ { printf "%d\n", $NF / 1024 }'
}

# A table with the demo's churn data under another name.
make_churn_table() {
  psql_as_owner -d "$DATABASE" -c "DROP TABLE IF EXISTS $1; CREATE TABLE $1 (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state text, account_length int, area_code text, international_plan text, voice_mail_plan text, number_vmail_messages int,
    total_day_minutes double precision, total_day_calls int, total_day_charge numeric(8,2),
    total_eve_minutes double precision, total_eve_calls int, total_eve_charge numeric(8,2),
    total_night_minutes double precision, total_night_calls int, total_night_charge numeric(8,2),
    total_intl_minutes double precision, total_intl_calls int, total_intl_charge numeric(8,2),
    number_customer_service_calls int, churn text NOT NULL)"
  psql_as_owner -d "$DATABASE" -c "\\copy $1 ($EXACT_CHURN_FEATURES, churn) FROM pstdin WITH (FORMAT csv, HEADER)" \
    <"$CHECKOUT/scripts/demo.d/churn.csv"
}

# So that a test can be run again on the same platform.
forget_project() { sql "SELECT ml.drop_project('$1', if_exists => true)" >/dev/null; }

# train PROJECT TABLE LABEL [HYPERPARAMS]: trains, waits, prints the run id.
train() {
  local run end
  run=$(sql "SELECT run_id FROM ml.train('$1', 'classification', '$2', '$3', 'xgboost', '${4:-{\}}')")
  end=$(sql "SELECT ml.wait_run($run, '5 minutes')")
  # What the caller asks next fails, and this is why.
  [ "$end" = succeeded ] || say "training of $1 ended as $end: $(sql "SELECT error FROM ml.run_status($run)")" >&2
  echo "$run"
}

metric() { sql "SELECT metrics->>'$2' FROM ml.run_status($1)"; }

# lake_value QUERY: the single value of a query of the Flink SQL client.
lake_value() {
  local file
  file=$(mktemp)
  printf '%s;\n' "$1" >"$file"
  "$CHECKOUT/scripts/sql-client" -f "$file" 2>&1 | sed -n 's/^| *\([^|]*[^ |]\) *|$/\1/p' | tail -n 1
  rm -f "$file"
}

# put_model NAME <BASE64: where ml.import_model may read it.
put_model() { base64 -d | gunzip | as_run_user tee "$RUN/import/$1" >/dev/null; }
import_uri() { echo "file:$RUN/import/$1"; }

# put_plain_model NAME: y = 0.25 - 0.5 x1 + 0 x2 + 0.5 x3, as a matrix of three floats.
put_plain_model() {
  put_model "$1" <<'MODEL'
H4sIAAAAAAACA+PgEGIvSS0uycxLt2ph5JLnYqzgYg6PN+Bidoo3EGKslGLNy09JNVBicU/NzbVigCvWkuRg5mAUYHQCKfbiYWBg2M8AAfZa/BAJoAFeLAwM
DXZRokBThQS4+DgYhbi4WISYUgy4mDiYk4DClRjCjE4sXAwC/E58XFyJmXr5eXkVerk5AswA5z8aFqgAAAA=
MODEL
}
