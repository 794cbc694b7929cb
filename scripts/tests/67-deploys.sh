#!/usr/bin/env bash
# 250 deploys under load, each of a model that is new to a gateway whose memory holds a few: trees and ONNX graphs in turn.
# After the first 50, its memory stays where it is. Only with scripts/test --full.
. "$(dirname "$0")/lib.sh"
. "$CHECKOUT/scripts/lib/model-copies.sh"

if [ -z "$FULL" ]; then exit 0; fi

CLIENTS=8
WARM_DEPLOYS=50 # until the JVM has compiled and loaded most of what it will
DEPLOYS=200     # from then on
WINDOW=40       # deploys in which the least resident memory is looked for
LOOK_EVERY=5

make_models() {
  local project copy originals=()
  for project in "deploys trees" "deploys graph"; do forget_project "$project"; done
  make_churn_table deploys_churn
  psql_as_owner -d "$DATABASE" -c "DROP TABLE IF EXISTS deploys_asked, deploys_expected;
    CREATE TABLE deploys_asked AS SELECT * FROM deploys_churn WHERE id <= 500"
  train "deploys trees" deploys_churn churn '{"n_estimators": 60}' >/dev/null
  put_plain_model plain.onnx
  sql "SELECT ml.create_project('deploys graph', 'regression');
    SELECT ml.deploy(ml.import_model('deploys graph', '$(import_uri plain.onnx)'));
    CREATE TABLE deploys_expected AS SELECT id, ml.predict('deploys trees', t) AS prediction FROM deploys_asked t" >/dev/null
  for project in "deploys trees" "deploys graph"; do originals+=("$(sql "SELECT deployed_model_id FROM ml.list_projects('$project')")"); done
  copies=()
  for ((copy = 0; copy < WARM_DEPLOYS + DEPLOYS; copy++)); do copies+=("$(copy_model "${originals[copy % 2]}")"); done
}

forget_models() {
  local project
  for project in "deploys trees" "deploys graph"; do
    sql "SELECT ml.deploy(min(model_id)) FROM ml.list_models('$project') HAVING count(*) > 0" >/dev/null
  done
  [ ${#copies[@]} -eq 0 ] || forget_copies "${copies[@]}"
}

# Copies of one model answer alike, so that each answer can be checked whatever is deployed. A wrong one divides by zero.
begin_load() {
  as_run_user tee "$RUN/tmp/deploys.sql" >/dev/null <<'SQL'
\set id random(1, 500)
SELECT 1 / CAST(ml.predict('deploys trees', t) = e.prediction AS int) FROM deploys_asked t JOIN deploys_expected e USING (id) WHERE id = :id;
SELECT 1 / CAST(abs(ml.predict('deploys graph', ARRAY[1, 2, :id]) - (0.5 * :id - 0.25)) < 1e-3 AS int);
SELECT 1 / CAST(count(*) = 500 AS int) FROM ml.predict_batch('deploys trees', 'deploys_asked', 'id') HAVING :id <= 10;
SQL
  # exec: the pid must be that of pgbench itself.
  (cd / && exec "${RUN_AS[@]}" "$PG_BIN/pgbench" -h "$(socket_dir)" -p "$(port postgres)" -U postgres -n -M prepared -c "$CLIENTS" -j 2 \
    --progress 1 -T 3600 -f "$RUN/tmp/deploys.sql" "$DATABASE" >"$out" 2>&1 </dev/null) &
  load=$!
}

# Native memory that the libraries of the models hold, in kB, as jemalloc's samples tell; nothing without jemalloc.
library_kilobytes() {
  curl --silent --fail "http://127.0.0.1:$(port gateway-metrics)/debug/profile/native?format=collapsed" |
    awk '/^\[lib(xgboost|onnxruntime|opendal)/ { sum += $NF } END { printf "%d\n", sum / 1024 }' || true
}

# deploy FROM TO: one after the other.
deploy() {
  local copy
  least=
  for ((copy = $1; copy < $2; copy++)); do
    sql "SELECT ml.deploy(${copies[copy]}::bigint)" >/dev/null
    [ $(((copy + 1) % LOOK_EVERY)) -ne 0 ] || note_memory
  done
}

# note: what is held after the deploys so far.
note() {
  live=$(live_heap_kilobytes)
  library=$(library_kilobytes)
  printf '#   after %s deploys: %s kB resident, %s kB alive on the Java heap, %s kB native of the engines\n' "$1" "$least" "$live" "$library"
}

clean_up() {
  [ -z "$load" ] || kill "$load" 2>/dev/null || true
  rm -f "$out" "$RUN/tmp/deploys.sql"
  forget_models || say "copies of models are left"
  start_gateway_again
}

out=$(mktemp)
load=
copies=()
trap clean_up EXIT
make_models
start_gateway_of_few_models
loads=$(loads)
begin_load
deploy 0 $WARM_DEPLOYS
deploy $WARM_DEPLOYS $((WARM_DEPLOYS + WINDOW))
note $((WARM_DEPLOYS + WINDOW))
before=$least live_before=$live library_before=$library
deploy $((WARM_DEPLOYS + WINDOW)) $((WARM_DEPLOYS + DEPLOYS - WINDOW))
deploy $((WARM_DEPLOYS + DEPLOYS - WINDOW)) $((WARM_DEPLOYS + DEPLOYS))
note $((WARM_DEPLOYS + DEPLOYS))
equals "each model was loaded" "$(($(loads) - loads >= WARM_DEPLOYS + DEPLOYS))" 1
equals "no client failed and no answer was wrong" "$(kill -0 "$load" 2>/dev/null && ! grep -m 1 -E 'ERROR|aborted' "$out" || tail -n 3 "$out")" ""
printf '#   %s predictions in a second, the mean of the last ten seconds\n' \
  "$(sed -n 's/^progress: .* s, \([0-9.]*\) tps,.*/\1/p' "$out" | tail -n 10 | awk '{ sum += 2 * $1 } END { print int(sum / NR) }')"
flat "200 deploys: resident memory is flat within 5 %" "$before" "$least"
flat "200 deploys: what is alive on the Java heap is flat within 5 %" "$live_before" "$live"
if [ -n "$library" ]; then flat "200 deploys: native memory of the engines is flat within 5 %" "$library_before" "$library"; fi
