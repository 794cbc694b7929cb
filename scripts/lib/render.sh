# shellcheck shell=bash
# $RUN/conf is conf/ with the values of a few keys replaced: ports and paths of this platform.

# render SOURCE TARGET SEPARATOR KEY=VALUE..: copies a commented file; each KEY must stand at the start of one line.
render() {
  local source=$1 target=$2 separator=$3 text pair key value
  shift 3
  text=$(<"$source")
  for pair in "$@"; do
    key=${pair%%=*}
    value=${pair#*=}
    # The values come through the environment: awk would take backslashes in -v for escapes.
    text=$(KEY=$key LINE=$key$separator$value awk -v separator="${separator// /}" '
      index($0, ENVIRON["KEY"]) == 1 {
        rest = substr($0, length(ENVIRON["KEY"]) + 1)
        sub(/^ */, "", rest)
        if (index(rest, separator) == 1) { print ENVIRON["LINE"]; found = 1; next }
      }
      { print }
      END { exit !found }' <<<"$text") || die "key is missing in a configuration file: key=$key, file=$source"
  done
  as_run_user sh -c 'umask 027 && cat >"$1"' - "$target" <<<"$text"
}

render_configuration() {
  local rest
  rest=http://127.0.0.1:$(port flink-rest)
  as_run_user mkdir -p "$RUN/conf/flink" "$RUN/flink/upload" "$RUN/flink/tmp"
  render "$CHECKOUT/conf/postgresql.conf" "$RUN/conf/postgresql.conf" ' = ' \
    "port=$(port postgres)" \
    "unix_socket_directories='$(socket_dir)'" \
    "ml.region_directory='$REGION'"
  render "$CHECKOUT/conf/flink/config.yaml" "$RUN/conf/flink/config.yaml" ': ' \
    "jobmanager.rpc.port=$(port flink-rpc)" \
    "blob.server.port=$(port flink-blob)" \
    "rest.port=$(port flink-rest)" \
    "web.upload.dir=$RUN/flink/upload" \
    "io.tmp.dirs=$RUN/flink/tmp" \
    "execution.checkpointing.dir=file://$RUN/checkpoints"
  as_run_user cp "$CHECKOUT/conf/flink/log4j.properties" "$RUN/conf/flink/log4j.properties"
  render "$CHECKOUT/conf/flink/sql-client.sql" "$RUN/conf/flink/sql-client.sql" ' = ' \
    "  'uri'='jdbc:postgresql://127.0.0.1:$(port postgres)/$DATABASE?currentSchema=ml_lake'," \
    "  'warehouse'='file://$RUN/lake'"
  : "$rest"
}
