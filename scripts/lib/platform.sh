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

# Jars are copied, so that a rebuild never changes what a running JVM has open. $RUN/flink/lib is replaced as a whole
# and only while no JVM uses it.
install_jars() {
  local name
  for name in jobmanager taskmanager gateway snapshot train; do
    if process_running "$name"; then return; fi
  done
  copy_jars "$CHECKOUT/flink-jobs/dist/target/lib" "$RUN/flink/lib"
  install_service_jars
}

# copy_jars SOURCE TARGET: TARGET holds exactly the jars of SOURCE afterwards.
copy_jars() {
  rm -rf "$2.new"
  mkdir -p "$2.new"
  cp "$1"/*.jar "$2.new/"
  chmod -R a+rX "$2.new"
  rm -rf "$2"
  mv "$2.new" "$2"
}

start_platform() {
  use_jdk
  install_jars
  choose_ports
  make_worker_password
  render_configuration
  start_postgres
  prepare_database
  start_jobmanager
  start_taskmanager
  start_services
  wait_for_flink
  wait_for_services
}

# Dispatchers first, so that nothing new begins; the database last, since all others write their last words there.
stop_platform() {
  local pid
  stop_services
  end_process taskmanager 30
  end_process jobmanager 30
  for pid in $(leftover_pids); do
    say "ending a child process left by an ended parent: pid $pid ($(tr '\0' ' ' <"/proc/$pid/cmdline" | cut -c 1-80))"
    kill -KILL "$pid" 2>/dev/null || true
  done
  stop_postgres
  rm -rf "$REGION"
}

print_places() {
  cat <<TEXT
Flink web UI    http://127.0.0.1:$(port flink-rest)
metrics         http://127.0.0.1:$(port gateway-metrics)/metrics
PostgreSQL      127.0.0.1:$(port postgres), database $DATABASE (scripts/psql)
logs            $RUN/log
TEXT
}
