# shellcheck shell=bash
# One build for everybody, behind a stamp: the hash of all sources.

BUILD_STAMP=$CHECKOUT/target/build.stamp
PG_CONFIG=/usr/lib/postgresql/15/bin/pg_config
SOURCES=(pom.xml .mvn shm-bridge infer-gateway flink-jobs cdc-snapshot-job train-job sql-udfs)

source_hash() {
  (cd "$CHECKOUT" && find "${SOURCES[@]}" \( -name target -o -name .jqwik-database -o -name results -o -name 'tmp_check*' \) -prune -o \
    -type f ! -name '*.o' ! -name '*.so' ! -name '*.bc' ! -name dependency-reduced-pom.xml ! -name 'millrace--*.sql' -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c 1-64)
}

# The server loads the installed copy: it must be the one built here, whatever another checkout installed since.
extension_is_installed() {
  cmp -s "$CHECKOUT/sql-udfs/millrace.so" "$("$PG_CONFIG" --pkglibdir)/millrace.so" &&
    cmp -s "$CHECKOUT/sql-udfs/millrace.control" "$("$PG_CONFIG" --sharedir)/extension/millrace.control"
}

install_extension() {
  watched "compiling the extension" "$CHECKOUT/target/extension.log" make --no-print-directory -C "$CHECKOUT/sql-udfs" "PG_CONFIG=$PG_CONFIG"
  if extension_is_installed; then return; fi
  watched "installing the extension into $("$PG_CONFIG" --pkglibdir)" "$CHECKOUT/target/extension.log" \
    root make -C "$CHECKOUT/sql-udfs" "PG_CONFIG=$PG_CONFIG" install
}

# build_platform [MVN_ARGS..]: default is packaging without tests.
build_platform() {
  local hash arguments=("$@")
  [ $# -gt 0 ] || arguments=(package -DskipTests)
  mkdir -p "$CHECKOUT/target"
  exec 9>"$CHECKOUT/target/build.lock"
  flock -n 9 || { say "another build of this checkout is running: waiting"; flock -w 1800 9 || die "the other build did not end"; }
  hash=$(source_hash)
  if [ $# -eq 0 ] && [ "$(cat "$BUILD_STAMP" 2>/dev/null)" = "$hash" ]; then
    say "the build is up to date"
    extension_is_installed || install_extension
  else
    rm -f "$BUILD_STAMP"
    install_extension
    watched "building with Maven (the first build downloads its libraries)" "$CHECKOUT/target/build.log" \
      mvn --batch-mode --no-transfer-progress -f "$CHECKOUT/pom.xml" "${arguments[@]}"
    echo "$hash" >"$BUILD_STAMP"
  fi
  exec 9>&-
}
