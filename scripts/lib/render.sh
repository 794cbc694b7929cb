# shellcheck shell=bash
# $RUN/conf is conf/ with the values of a few keys replaced: ports and paths of this platform.

# render_file NAME SEPARATOR KEY=VALUE..: conf/NAME to $RUN/conf/NAME; each KEY must stand at the start of one line.
render_file() {
  local source=$CHECKOUT/conf/$1 target=$RUN/conf/$1 separator=$2 text pair key value
  shift 2
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
  local flink=http://127.0.0.1:$(port flink-rest) warehouse=file://$RUN/lake
  as_run_user mkdir -p "$RUN/conf/flink" "$RUN/flink/upload" "$RUN/flink/tmp"
  render_file postgresql.conf ' = ' \
    "port=$(port postgres)" \
    "unix_socket_directories='$(socket_dir)'" \
    "ml.region_dir='$REGION'"
  render_file flink/config.yaml ': ' \
    "jobmanager.rpc.port=$(port flink-rpc)" \
    "blob.server.port=$(port flink-blob)" \
    "rest.port=$(port flink-rest)" \
    "web.upload.dir=$RUN/flink/upload" \
    "io.tmp.dirs=$RUN/flink/tmp" \
    "execution.checkpointing.dir=file://$RUN/checkpoints"
  render_file flink/log4j.properties ' = '
  render_file flink/sql-client.sql ' = ' \
    "  'uri'='jdbc:postgresql://127.0.0.1:$(port postgres)/$DATABASE?currentSchema=ml_lake'," \
    "  'warehouse'='$warehouse'"
  render_file database.properties = \
    "database-port=$(port postgres)" \
    "database-name=$DATABASE" \
    "database-password=file:$RUN/secret/worker-password"
  render_file lake.properties = "warehouse-uri=$warehouse"
  render_file store.properties = "store-root=$RUN/store"
  render_file gateway.properties = \
    "region-directory=$REGION" \
    "cache-directory=$RUN/cache" \
    "import-directory=$RUN/import" \
    "metrics-port=$(port gateway-metrics)" \
    "http-port=$(port gateway-http)" \
    "database-port=$(port postgres)" \
    "database-name=$DATABASE" \
    "database-password=file:$RUN/secret/gateway-password"
  render_file snapshot.properties = \
    "flink-rest-uri=$flink" \
    "job-jar=$RUN/lib/jobs/$SNAPSHOT_JAR" \
    "checkpoint-uri=file://$RUN/checkpoints" \
    "savepoint-uri=file://$RUN/savepoints" \
    "state-directory=$RUN/snapshot" \
    "stop-job-on-exit=true"
  render_file train.properties = \
    "flink-rest-uri=$flink" \
    "job-jar=$RUN/lib/jobs/$TRAIN_JAR" \
    "train-lib-directory=$RUN/lib/train" \
    "matrix-directory=$RUN/matrix"
}
