# shellcheck shell=bash
# Flink from the assembled lib directory: JobManager, TaskManager, SQL client.

FLINK_WAIT_SECONDS=120

# What Flink 2.3 needs opened on Java 17.
FLINK_JAVA_FLAGS=()
for exported in java.base/sun.net.util java.rmi/sun.rmi.registry java.security.jgss/sun.security.krb5 \
  jdk.compiler/com.sun.tools.javac.{api,file,parser,tree,util}; do
  FLINK_JAVA_FLAGS+=("--add-exports=$exported=ALL-UNNAMED")
done
for opened in java.base/{java.lang,java.net,java.io,java.nio,sun.nio.ch,java.lang.reflect,java.text,java.time,java.util} \
  java.base/java.util.concurrent{,.atomic,.locks}; do
  FLINK_JAVA_FLAGS+=("--add-opens=$opened=ALL-UNNAMED")
done
unset exported opened

# flink_command LOGNAME JVM_ARGS.. MAIN ARGS..: the command line in FLINK_COMMAND.
# The class path is a wildcard: the JVM expands it, and the command line stays short.
flink_command() {
  local log=$1
  shift
  FLINK_COMMAND=(env "FLINK_CONF_DIR=$RUN/conf/flink" "FLINK_LIB_DIR=$RUN/flink/lib" "PGPASSFILE=$RUN/secret/pgpass"
    "$JAVA" "${FLINK_JAVA_FLAGS[@]}" "-Dlog.file=$RUN/log/$log.log"
    "-Dlog4j.configurationFile=file:$RUN/conf/flink/log4j.properties" -cp "$RUN/flink/lib/*" "$@")
}

# Flink computes its own JVM and dynamic arguments: two lines marked BASH_JAVA_UTILS_EXEC_RESULT.
flink_memory_arguments() {
  local command=$1 answer
  flink_command memory -Xmx64m org.apache.flink.runtime.util.bash.BashJavaUtils "$command" --configDir "$RUN/conf/flink"
  answer=$(cd "$RUN" && as_run_user "${FLINK_COMMAND[@]}" 2>"$RUN/log/$command.err" | sed -n 's/^BASH_JAVA_UTILS_EXEC_RESULT://p') ||
    die "Flink refused its memory configuration" "read $RUN/log/$command.err"
  read -r -a FLINK_JVM_ARGUMENTS <<<"$(sed -n 1p <<<"$answer")"
  read -r -a FLINK_DYNAMIC_ARGUMENTS <<<"$(sed -n 2p <<<"$answer")"
}

start_jobmanager() {
  if process_running jobmanager; then return; fi
  say "starting the Flink JobManager, web UI on http://127.0.0.1:$(port flink-rest)"
  flink_memory_arguments GET_JM_RESOURCE_PARAMS
  flink_command jobmanager "${FLINK_JVM_ARGUMENTS[@]}" \
    org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint -c "$RUN/conf/flink" "${FLINK_DYNAMIC_ARGUMENTS[@]}"
  spawn jobmanager "${FLINK_COMMAND[@]}"
}

start_taskmanager() {
  if process_running taskmanager; then return; fi
  say "starting the Flink TaskManager"
  flink_memory_arguments GET_TM_RESOURCE_PARAMS
  flink_command taskmanager "${FLINK_JVM_ARGUMENTS[@]}" \
    org.apache.flink.runtime.taskexecutor.TaskManagerRunner -c "$RUN/conf/flink" "${FLINK_DYNAMIC_ARGUMENTS[@]}"
  spawn taskmanager "${FLINK_COMMAND[@]}"
}

flink_rest() { curl --silent --fail --max-time 5 "http://127.0.0.1:$(port flink-rest)$1"; }

taskmanager_registered() { flink_rest /overview | grep -q '"taskmanagers":[1-9]'; }

wait_for_flink() {
  wait_until "Flink's REST endpoint" "$FLINK_WAIT_SECONDS" jobmanager "$RUN/log/jobmanager.log" flink_rest /overview
  wait_until "Flink's TaskManager to register" "$FLINK_WAIT_SECONDS" taskmanager "$RUN/log/taskmanager.log" taskmanager_registered
}
