# shellcheck shell=bash
# The platform as a whole: what its processes are, in which order they start and end.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
for part in java run-dir ports process postgres render flink services; do . "$CHECKOUT/scripts/lib/$part.sh"; done
unset part

PROCESSES=(postgres jobmanager taskmanager gateway snapshot train)

process_log() {
  case $1 in
    postgres) echo "$RUN/log/postgres.log" ;;
    jobmanager | taskmanager) echo "$RUN/log/$1.log" ;;
    *) echo "$RUN/log/$1.out" ;;
  esac
}

# Jars are copied, so that a rebuild never changes what a running JVM has open; replaced only while no JVM runs.
install_jars() {
  local name
  for name in jobmanager taskmanager gateway snapshot train; do
    if process_running "$name"; then return; fi
  done
  rm -rf "$RUN/flink/tmp" "$RUN/flink/upload" # leftovers of killed processes
  copy_jars "$RUN/flink/lib" "$CHECKOUT"/flink-jobs/dist/target/lib/*.jar
  install_service_jars
}

# copy_jars TARGET FILE..: TARGET holds exactly these files afterwards.
copy_jars() {
  local target=$1
  shift
  rm -rf "$target.new"
  mkdir -p "$target.new"
  cp "$@" "$target.new/"
  chmod -R a+rX "$target.new"
  rm -rf "$target"
  mv "$target.new" "$target"
}

start_platform() {
  use_jdk
  install_jars
  choose_ports
  make_passwords
  render_configuration
  start_postgres
  prepare_database
  start_jobmanager
  start_taskmanager
  start_services
  wait_for_flink
  wait_for_services
}

# Children of a process that was killed, say. They die at once; waiting for it is bounded all the same.
end_leftovers() {
  local pid tries
  for pid in $(leftover_pids); do
    say "ending a child left by an ended parent: pid $pid ($(tr '\0' ' ' <"/proc/$pid/cmdline" | grep -o '[^ ]* --.*\|^[^ ]*' | tail -n 1))"
    kill -KILL "$pid" 2>/dev/null || true
  done
  for tries in 1 2 3 4 5 6 7 8 9 10; do
    [ -n "$(leftover_pids)" ] || return 0
    sleep 0.5
  done
  say "processes that cannot be killed are left: $(leftover_pids | tr '\n' ' ')"
}

# Dispatchers first, so that nothing new begins; the database last, since all others write their last words there.
stop_platform() {
  stop_services
  end_process taskmanager 30
  end_process jobmanager 30
  end_leftovers
  stop_postgres
  rm -rf "$REGION"
}

print_places() {
  cat <<TEXT
Flink web UI    http://127.0.0.1:$(port flink-rest)
metrics         http://127.0.0.1:$(port gateway-metrics)/metrics
profiles        http://127.0.0.1:$(port gateway-metrics)/debug/profile/cpu, ../heap, ../native
HTTP inference  http://127.0.0.1:$(port gateway-http)/v2, described in /openapi.yaml
PostgreSQL      127.0.0.1:$(port postgres), database $DATABASE (scripts/psql)
logs            $RUN/log
TEXT
}
