# shellcheck shell=bash
# Shared by every script: where things are, how progress is said, who runs what.
set -euo pipefail
shopt -s inherit_errexit

CHECKOUT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
: "${MILLRACE_CLOCK:=$(date +%s)}" # scripts that call scripts share one clock
export MILLRACE_CLOCK

# A line of progress with the seconds since the first script of this command started.
say() { printf '[%4d s] %s\n' "$(($(date +%s) - MILLRACE_CLOCK))" "$*"; }

# die MESSAGE [REMEDY..]: one clear error; every further argument is a line that helps.
die() {
  printf 'millrace: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '          %s\n' "$@" >&2
  exit 1
}

is_root() { [ "$(id -u)" -eq 0 ]; }

# root CMD..: runs a command that needs root, through sudo when this is not root.
root() {
  if is_root; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "root is needed for: $*" "install sudo, or run this script as root"
  fi
}

# Servers never run as root (PostgreSQL refuses to): root hands everything to one system user.
run_user() { if is_root; then echo millrace; else id -un; fi; }

# Prefix of a command that becomes the run user; exec-ing, so the pid stays the caller's child.
RUN_AS=(env)
if is_root; then
  RUN_AS=(setpriv --reuid=millrace --regid=millrace --clear-groups -- env HOME=/var/lib/millrace USER=millrace)
fi

# as_run_user CMD..: runs a command (not a function) as the run user.
as_run_user() { "${RUN_AS[@]}" "$@"; }

# Where a long command is: the module of a Maven build, else the last line of its output.
progress_line() {
  local module
  module=$(grep -o 'Building .*\[[0-9]*/[0-9]*\]' "$1" | tail -n 1) || true
  if [ -n "$module" ]; then tr -s ' ' <<<"$module"; else tail -n 1 "$1" | cut -c 1-90; fi
}

# watched LABEL LOG CMD..: a long step, output into LOG, a line every 15 s, its end on failure.
watched() {
  local label=$1 log=$2 begin now next pid
  shift 2
  begin=$(date +%s)
  next=$((begin + 15))
  say "$label (log: $log)"
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    now=$(date +%s)
    if [ "$now" -ge "$next" ]; then
      say "  .. $((now - begin)) s: $(progress_line "$log")"
      next=$((now + 15))
    fi
  done
  trap - INT TERM
  if ! wait "$pid"; then
    tail -n 25 "$log" >&2
    die "failed: $label" "the whole log is $log"
  fi
}

# wait_until LABEL SECONDS PROCESS LOG CMD..: bounded; says what it waits for and which log explains a failure. Gives up
# at once when PROCESS is no longer there.
wait_until() {
  local label=$1 limit=$2 process=$3 log=$4 begin now next
  shift 4
  begin=$(date +%s)
  next=$((begin + 10))
  until "$@" >/dev/null 2>&1; do
    now=$(date +%s)
    if ! process_running "$process"; then
      [ ! -f "$log" ] || tail -n 15 "$log" >&2
      die "$process ended while $label was awaited" "read $log"
    fi
    if [ $((now - begin)) -ge "$limit" ]; then
      [ ! -f "$log" ] || tail -n 15 "$log" >&2
      die "gave up after $limit s waiting for $label" "read $log"
    fi
    if [ "$now" -ge "$next" ]; then
      say "  .. waiting for $label, $((now - begin)) s of at most $limit s"
      next=$((now + 10))
    fi
    sleep 0.3
  done
}

# http_ok URL: one GET that must answer 2xx within two seconds.
http_ok() { curl --silent --fail --max-time 2 --output /dev/null "$1"; }
