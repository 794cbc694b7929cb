# shellcheck shell=bash
# Free ports on loopback, chosen once and recorded in $RUN/ports as name=port: the usual ones, or MILLRACE_PORT_OFFSET above them.

# Ports somebody listens on, from the kernel's own table (no tool needed): state 0A is LISTEN.
listening_ports() {
  local hex
  for hex in $(awk '$4 == "0A" { n = split($2, a, ":"); print a[n] }' /proc/net/tcp /proc/net/tcp6 2>/dev/null | sort -u); do
    echo $((16#$hex))
  done
}

port() { sed -n "s/^$1=//p" "$RUN/ports"; }

# keep_port NAME FIRST PROCESS: keeps the recorded port while it is free or PROCESS holds it, else takes the next free one.
keep_port() {
  local name=$1 candidate=$(($2 + ${MILLRACE_PORT_OFFSET:-0})) process=$3 recorded taken
  recorded=$(port "$name")
  if [ -n "$recorded" ] && process_running "$process"; then return; fi
  taken=" $(listening_ports | tr '\n' ' ') $(cut -d= -f2 "$RUN/ports" | tr '\n' ' ') "
  if [ -n "$recorded" ]; then
    case " $(listening_ports | tr '\n' ' ') " in
      *" $recorded "*) say "port $recorded of $name is taken by another process: choosing a new one" ;;
      *) return ;;
    esac
  fi
  while case $taken in *" $candidate "*) true ;; *) false ;; esac do candidate=$((candidate + 1)); done
  sed -i "/^$name=/d" "$RUN/ports"
  echo "$name=$candidate" >>"$RUN/ports"
}

choose_ports() {
  touch "$RUN/ports"
  keep_port postgres 5433 postgres
  keep_port flink-rest 8081 jobmanager
  keep_port flink-rpc 6123 jobmanager
  keep_port flink-blob 6124 jobmanager
  keep_port gateway-metrics 9187 gateway
  keep_port gateway-http 9188 gateway
}
