# shellcheck shell=bash
# For the benchmarks: the environment first, then lines "name value unit" and "name.ratio value ratio".
. "$(dirname "${BASH_SOURCE[0]}")/../lib/platform.sh"
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
require_run_dir
use_jdk

BENCH=$RUN/tmp/bench
as_run_user mkdir -p "$BENCH"

# median VALUE..: the middle one.
median() { printf '%s\n' "$@" | sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

WARM_LIMIT=240 # seconds that sessions may take until their rate is steady

# From pgbench's lines of progress: the mean rate of SECONDS in a row, from the moment when the rate is steady. That is when
# every session has long had its first answers and three seconds differ by less than a tenth. Empty until then.
steady_tps() {
  awk -v clients="$1" -v seconds="$2" -v limit="$WARM_LIMIT" '
    function low(a, b) { return a < b ? a : b }
    function high(a, b) { return a > b ? a : b }
    /^progress:/ {
      rate[++count] = $4
      answers += $4
      if (start) next
      slowest = low(low($4, rate[count - 1]), rate[count - 2])
      fastest = high(high($4, rate[count - 1]), rate[count - 2])
      if (count > limit || (count > 3 && answers > 100 * clients && slowest > 0.9 * fastest)) start = count
    }
    END {
      if (!start || count < start + seconds) exit
      for (second = start + 1; second <= start + seconds; second++) sum += rate[second]
      printf "%.0f\n", sum / seconds
    }' "$3"
}

# begin_pgbench CLIENTS SECONDS SCRIPT_TEXT [OPTION..]: in the background; "load" is its pid, "rates" the file where it tells its rate.
begin_pgbench() {
  local clients=$1 seconds=$2 script=$BENCH/script.$$
  as_run_user tee "$script" >/dev/null <<<"$3"
  shift 3
  rates=$BENCH/pgbench.$$
  : >"$rates"
  # exec: the pid must be that of pgbench itself.
  (cd "$BENCH" && exec "${RUN_AS[@]}" "$PG_BIN/pgbench" -h "$(socket_dir)" -p "$(port postgres)" -U postgres -n -M prepared \
    --progress 1 -c "$clients" -j 2 -T "$seconds" -f "$script" "$@" "$DATABASE" >"$rates" 2>&1 </dev/null) &
  load=$!
}

# pgbench_runs: ends it all when pgbench has failed.
pgbench_runs() {
  if ! kill -0 "$load" 2>/dev/null || grep -qE 'ERROR|aborted' "$rates"; then
    kill "$load" 2>/dev/null || true
    die "pgbench failed" "$(grep -v '^progress' "$rates" | tail -n 5)"
  fi
}

end_pgbench() {
  kill "$load" 2>/dev/null || true
  wait "$load" 2>/dev/null || true
  rm -f "$BENCH/script.$$" "$rates"
}

# pgbench_tps CLIENTS SECONDS SCRIPT_TEXT: transactions per second of a prepared script in steady state.
pgbench_tps() {
  local load rates tps=
  begin_pgbench "$1" $((WARM_LIMIT + $2 + 5)) "$3"
  while [ -z "$tps" ]; do
    sleep 0.5
    pgbench_runs
    tps=$(steady_tps "$1" "$2" "$rates")
  done
  end_pgbench
  echo "$tps"
}

# processor_nanos PID..: nanoseconds on a processor so far, to a clock tick for each process. Of the process, not the sum of its
# threads: those that have ended count too, and a JVM ends compiler threads when they have nothing to do.
processor_nanos() {
  local pid stat sum=0
  for pid in "$@"; do
    read -r stat <"/proc/$pid/stat"
    # shellcheck disable=SC2086
    set -- ${stat##*) }
    sum=$((sum + ${12} + ${13}))
  done
  echo $((sum * 1000000000 / $(getconf CLK_TCK)))
}

# await_rates COUNT: until pgbench has told its rate so often.
await_rates() {
  while [ "$(grep -c ^progress "$rates")" -lt "$1" ]; do
    sleep 0.01
    pgbench_runs
  done
}

# spent NAME CLIENTS SECONDS SCRIPT_TEXT: prints the processor time of each transaction, by who spends it. Sets
# "micros" to that of sessions, gateway and pgbench, in this order, and "tps" to the rate meanwhile.
spent() {
  local name=$1 clients=$2 seconds=$3 warm=3 parts=(sessions gateway pgbench)
  local load rates gateway sessions before after transactions who
  begin_pgbench "$clients" $((warm + seconds + 5)) "$4"
  gateway=$(process_pid gateway)
  await_rates "$warm"
  mapfile -t sessions < <(sql "SELECT pid FROM pg_stat_activity WHERE application_name = 'pgbench'")
  before=("$(processor_nanos "${sessions[@]}")" "$(processor_nanos "$gateway")" "$(processor_nanos "$load")")
  await_rates $((warm + seconds))
  after=("$(processor_nanos "${sessions[@]}")" "$(processor_nanos "$gateway")" "$(processor_nanos "$load")")
  transactions=$(awk -v warm="$warm" -v seconds="$seconds" '/^progress/ && ++line > warm && line <= warm + seconds { sum += $4 } END { printf "%.0f", sum }' "$rates")
  end_pgbench
  tps=$((transactions / seconds))
  for who in 0 1 2; do
    micros[who]=$(awk -v nanos=$((after[who] - before[who])) -v count="$transactions" 'BEGIN { printf "%.2f", nanos / 1000 / count }')
    result "$name.$clients-clients.processor.${parts[who]}" "${micros[who]}" us
  done
}

# total NUMBER..
total() { printf '%s\n' "$@" | awk '{ sum += $1 } END { print sum }'; }

# The project "bench predict": 100 trees of depth 6 on bench.wide, 20,000 rows of 100 features; the same in bench.arrays.
make_bench_model() {
  say "making 20,000 rows x 100 features" >&2
  psql_as_owner -d "$DATABASE" <"$CHECKOUT/scripts/bench/predict-tables.sql"
  train_bench_model 'bench predict' bench.wide
}

# The project "bench batch": the same on bench.narrow, the first 20 of those features.
make_narrow_model() { train_bench_model 'bench batch' bench.narrow; }

# train_bench_model PROJECT TABLE: unless it has one.
train_bench_model() {
  local run answer
  [ -z "$(sql "SELECT deployed_model_id FROM ml.list_projects('$1')")" ] || return 0
  say "training 100 trees of depth 6 on $2" >&2
  run=$(sql "SELECT run_id FROM ml.train('$1', 'classification', '$2', 'y', 'xgboost',
    '{\"n_estimators\": 100, \"max_depth\": 6}')")
  answer=$(sql "SELECT ml.wait_run($run, '10 minutes')")
  [ "$answer" = succeeded ] || die "training ended as $answer" "$(sql "SELECT error FROM ml.run_status($run)")"
}
