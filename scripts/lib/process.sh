# shellcheck shell=bash
# Processes by pid: $RUN/pid/NAME holds "pid start-time". A recycled pid has another start time, so a file that
# outlived its process never points at a stranger.

# Field 22 of /proc/PID/stat, counted after the name in parentheses, which may hold spaces.
start_time() {
  local stat
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  # shellcheck disable=SC2086
  set -- ${stat##*) }
  [ "$1" != Z ] && echo "${20}"
}

# process_pid NAME: prints the pid while the recorded process lives, else fails.
process_pid() {
  local file=$RUN/pid/$1 pid started
  if [ "$1" = postgres ]; then
    pid=$(head -n 1 "$RUN/pg/postmaster.pid" 2>/dev/null) || return 1
    [ "$(readlink "/proc/$pid/cwd")" = "$RUN/pg" ] && echo "$pid"
    return
  fi
  read -r pid started 2>/dev/null <"$file" || return 1
  [ "$(start_time "$pid")" = "$started" ] && [ "$(stat -c %U "/proc/$pid" 2>/dev/null)" = "$(run_user)" ] && echo "$pid"
}

process_running() { process_pid "$1" >/dev/null; }

# spawn NAME CMD..: starts a daemon in its own session, output appended to log/NAME.out.
spawn() {
  local name=$1 log=$RUN/log/$1.out pid
  shift
  # shellcheck disable=SC2016
  (cd "$RUN" && exec "${RUN_AS[@]}" MILLRACE_PLATFORM="$RUN" setsid bash -c 'exec "$@" >>"$0" 2>&1 </dev/null' "$log" "$@") &
  pid=$!
  disown "$pid"
  as_run_user tee "$RUN/pid/$name" >/dev/null <<<"$pid $(start_time "$pid")"
}

# end_process NAME SECONDS: SIGTERM, a bounded wait, then SIGKILL with a message. Nothing to do is fine.
end_process() {
  local name=$1 limit=$2 pid begin
  if pid=$(process_pid "$name"); then
    begin=$(date +%s)
    kill -TERM "$pid" 2>/dev/null || true
    while process_running "$name"; do
      if [ $(($(date +%s) - begin)) -ge "$limit" ]; then
        say "$name did not end within $limit s: killed (log: $RUN/log/$name.log)"
        kill -KILL "$pid" 2>/dev/null || true
        limit=$((limit + 10))
      fi
      sleep 0.1
    done
    say "stopped $name (pid $pid)"
  fi
  rm -f "$RUN/pid/$name"
}

# Every process that carries this run directory in its environment, whoever started it: training children too.
# PostgreSQL overwrites its environment with its title; pg_ctl looks after it.
leftover_pids() {
  local entry pid
  for entry in /proc/[0-9]*/environ; do
    pid=${entry#/proc/}
    pid=${pid%/environ}
    [ "$pid" != "$$" ] && [ "$pid" != "$BASHPID" ] && [ "$pid" != "$PPID" ] || continue
    [ "$(stat -c %U "/proc/$pid" 2>/dev/null)" = "$(run_user)" ] || continue
    if tr '\0' '\n' 2>/dev/null <"$entry" | grep -qxF "MILLRACE_PLATFORM=$RUN"; then echo "$pid"; fi
  done
}
