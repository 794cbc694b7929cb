# shellcheck shell=bash
# For the benchmarks: the environment first, then lines "name value unit" and "name.ratio value ratio".
. "$(dirname "${BASH_SOURCE[0]}")/../lib/platform.sh"
require_run_dir
use_jdk

BENCH=$RUN/tmp/bench
as_run_user mkdir -p "$BENCH"

print_environment() {
  printf '# %s\n' "$(date -u +%FT%TZ)" "$(nproc) x $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" \
    "load average $(cut -d' ' -f1-3 /proc/loadavg), $(awk '/^MemTotal/ { print int($2 / 1048576) " GB" }' /proc/meminfo)" \
    "$("$PG_BIN/postgres" --version), $("$JAVA" -version 2>&1 | head -n 1), $(git -C "$CHECKOUT" log -1 --format=%h 2>/dev/null || echo 'no git')"
}

# result NAME VALUE UNIT
result() { printf '%-44s %14s %s\n' "$1" "$2" "$3"; }

# ratio NAME NUMERATOR DENOMINATOR
ratio() { result "$1" "$(awk -v a="$2" -v b="$3" 'BEGIN { if (b > 0) printf "%.3f", a / b; else print "none" }')" ratio; }

# pgbench_tps CLIENTS SECONDS SCRIPT_TEXT: transactions per second of a prepared script, one warm-up run before it.
pgbench_tps() {
  local clients=$1 seconds=$2 script=$BENCH/script.$$ out=$BENCH/pgbench.$$ run
  as_run_user tee "$script" >/dev/null <<<"$3"
  for run in 2 "$seconds"; do
    as_run_user "$PG_BIN/pgbench" -h "$(socket_dir)" -p "$(port postgres)" -U postgres -n -M prepared \
      -c "$clients" -j 2 -T "$run" -f "$script" "$DATABASE" 2>&1 | as_run_user tee "$out" >/dev/null
  done
  if ! grep -q '^number of failed transactions: 0 ' "$out"; then die "pgbench had failures" "$(tail -n 5 "$out")"; fi
  sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$out"
  rm -f "$script" "$out"
}
