# shellcheck shell=bash
# Millrace's own processes: gateway, snapshot supervisor, run dispatcher.

SNAPSHOT_JAR=millrace-snapshot-job-0.1.0-job.jar
TRAIN_JAR=millrace-train-job-0.1.0-job.jar

install_service_jars() {
  copy_jars "$RUN/lib/gateway" "$CHECKOUT"/infer-gateway/server/target/{lib/*.jar,millrace-gateway-0.1.0.jar} \
    "$CHECKOUT/infer-gateway/server/src/main/jvm/gateway.jvmflags"
  copy_jars "$RUN/lib/train" "$CHECKOUT"/train-job/target/lib/*.jar
  copy_jars "$RUN/lib/jobs" "$CHECKOUT/cdc-snapshot-job/job/target/$SNAPSHOT_JAR" "$CHECKOUT/train-job/target/$TRAIN_JAR"
}

# For /debug/profile/native, where it is installed: an allocator that looks at one allocation in each half megabyte.
native_sampling() {
  if compgen -G "/usr/lib/*/libjemalloc.so.2" >/dev/null && grep -qx 'profiling=true' "$RUN/conf/gateway.properties"; then
    echo env LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=prof:true,lg_prof_sample:19
  fi
}

start_gateway() {
  local allocator
  if process_running gateway; then return; fi
  say "starting the gateway, HTTP on http://127.0.0.1:$(port gateway-http)/v2, metrics on port $(port gateway-metrics)"
  read -ra allocator <<<"$(native_sampling)"
  spawn gateway "${allocator[@]}" "$JAVA" "@$RUN/lib/gateway/gateway.jvmflags" -cp "$RUN/lib/gateway/*" \
    io.millrace.gateway.GatewayMain --conf "$RUN/conf"
}

# The two that talk to Flink share its class path and the jar of their job.
start_beside_flink() {
  local name=$1 jar=$2 main=$3
  if process_running "$name"; then return; fi
  spawn "$name" "$JAVA" -Xmx128m -XX:+UseSerialGC "${FLINK_JAVA_FLAGS[@]}" "-Dlog.file=$RUN/log/$name.log" \
    "-Dlog4j.configurationFile=file:$RUN/conf/flink/log4j.properties" \
    -cp "$RUN/lib/jobs/$jar:$RUN/flink/lib/*" "$main" --conf "$RUN/conf"
}

start_services() {
  start_gateway
  if ! process_running snapshot; then say "starting the snapshot supervisor, which runs the change job"; fi
  start_beside_flink snapshot "$SNAPSHOT_JAR" io.millrace.snapshot.SnapshotSupervisorMain
  if ! process_running train; then say "starting the run dispatcher"; fi
  start_beside_flink train "$TRAIN_JAR" io.millrace.train.RunDispatcherMain
}

gateway_serves() {
  [ -e "$REGION/layout.bin" ] && http_ok "http://127.0.0.1:$(port gateway-metrics)/metrics" &&
    http_ok "http://127.0.0.1:$(port gateway-http)/v2/health/ready"
}

# They wait for what they need by themselves; a configuration they cannot use ends them within seconds.
stayed_up() { [ $(($(date +%s) - $(stat -c %Y "$RUN/pid/$1"))) -ge 3 ]; }

wait_for_services() {
  wait_until "the gateway to serve" 90 gateway "$RUN/log/gateway.out" gateway_serves
  wait_until "the snapshot supervisor to stay up" 10 snapshot "$RUN/log/snapshot.out" stayed_up snapshot
  wait_until "the run dispatcher to stay up" 10 train "$RUN/log/train.out" stayed_up train
}

stop_services() {
  end_process train 20
  end_process snapshot 60
  end_process gateway 20
}
