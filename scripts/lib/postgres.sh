# shellcheck shell=bash
# The private PostgreSQL cluster in $RUN/pg. A cluster on 5432 is never looked at.

PG_BIN=/usr/lib/postgresql/15/bin
DATABASE=millrace

# A Unix socket path holds 107 bytes; a deep run directory gets a short one below /tmp.
socket_dir() {
  if [ ${#RUN} -le 80 ]; then echo "$RUN/socket"; else echo "/tmp/millrace-$(short_hash "$RUN")"; fi
}

# psql_as_owner [ARGS..]: psql as the superuser of the private cluster, no start-up file.
psql_as_owner() {
  as_run_user "$PG_BIN/psql" -X -q -v ON_ERROR_STOP=1 -h "$(socket_dir)" -p "$(port postgres)" -U postgres "$@"
}

# sql QUERY [DATABASE]: one value, unaligned. From a directory that the run user can enter: psql complains of any other.
sql() { (cd / && psql_as_owner -d "${2:-$DATABASE}" -At -c "$1"); }

make_cluster() {
  if [ -d "$RUN/pg.new" ]; then
    say "removing a half-made cluster of an interrupted run: $RUN/pg.new"
    rm -rf "$RUN/pg.new"
  fi
  [ ! -f "$RUN/pg/PG_VERSION" ] || return 0
  say "making a private PostgreSQL 15 cluster in $RUN/pg"
  (cd "$RUN" && as_run_user "$PG_BIN/initdb" -D "$RUN/pg.new" -U postgres -E UTF8 --locale=C.UTF-8 \
    --auth-local=trust --auth-host=scram-sha-256 --data-checksums >"$RUN/log/initdb.log" 2>&1) ||
    die "initdb failed" "read $RUN/log/initdb.log"
  as_run_user tee "$RUN/pg.new/pg_hba.conf" >/dev/null <<'HBA'
# The socket directory has mode 0700: only the run user reaches it. TCP asks for a password.
local all all              trust
host  all all 127.0.0.1/32 scram-sha-256
HBA
  echo "include '$RUN/conf/postgresql.conf'" | as_run_user tee -a "$RUN/pg.new/postgresql.conf" >/dev/null
  mv "$RUN/pg.new" "$RUN/pg"
}

start_postgres() {
  make_cluster
  as_run_user mkdir -p -m 0700 "$(socket_dir)"
  if process_running postgres; then return; fi
  say "starting PostgreSQL on port $(port postgres)"
  (cd "$RUN" && as_run_user "$PG_BIN/pg_ctl" -D "$RUN/pg" -l "$RUN/log/postgres.log" -w -t 120 start >/dev/null) ||
    die "PostgreSQL did not start" "read $RUN/log/postgres.log"
}

stop_postgres() {
  local pid
  pid=$(process_pid postgres) || return 0
  (cd "$RUN" && as_run_user "$PG_BIN/pg_ctl" -D "$RUN/pg" -m fast -w -t 60 stop >/dev/null) || {
    say "PostgreSQL did not stop within 60 s: immediate shutdown (log: $RUN/log/postgres.log)"
    (cd "$RUN" && as_run_user "$PG_BIN/pg_ctl" -D "$RUN/pg" -m immediate -w -t 30 stop >/dev/null)
  }
  say "stopped postgres (pid $pid)"
}

# No upgrade leads from one build of an unreleased version to another, so its objects must be those of the installed build.
check_extension() {
  local build
  build=$(cat /usr/share/postgresql/15/extension/millrace--*.sql | sha256sum | cut -d' ' -f1)
  if [ -n "$(sql "SELECT 1 FROM pg_extension WHERE extname = 'millrace'")" ] &&
    [ "$(cat "$RUN/extension.sha256" 2>/dev/null)" != "$build" ]; then
    die "the database in $RUN/pg has the tables and functions of another build of the extension" \
      "begin anew: scripts/stop, then delete $RUN (with the models and the lake in it)"
  fi
  as_run_user tee "$RUN/extension.sha256" >/dev/null <<<"$build"
}

# Database, extension, the login roles of workers and gateway, and the catalog's schema. Safe to repeat.
prepare_database() {
  [ -n "$(sql "SELECT 1 FROM pg_database WHERE datname = '$DATABASE'" postgres)" ] ||
    sql "CREATE DATABASE $DATABASE" postgres
  check_extension
  # The password goes through standard input: arguments can be read in the process list.
  {
    printf "\\\\set password '%s'\n" "$(<"$RUN/secret/worker-password")"
    printf "\\\\set gateway_password '%s'\n" "$(<"$RUN/secret/gateway-password")"
    cat "$CHECKOUT/scripts/lib/prepare-database.sql"
  } | (cd / && psql_as_owner -d "$DATABASE")
}

# Each password exists once, as a file only the run user reads; the files of conf/ name it.
make_passwords() {
  make_password worker
  make_password gateway
  printf '127.0.0.1:%s:%s:millrace_worker:%s\n' "$(port postgres)" "$DATABASE" "$(<"$RUN/secret/worker-password")" |
    as_run_user sh -c 'umask 077 && cat >"$1"' - "$RUN/secret/pgpass"
}

make_password() {
  local file=$RUN/secret/$1-password
  if [ ! -s "$file" ]; then
    head -c 24 /dev/urandom | base64 | tr '+/' '-_' | as_run_user sh -c 'umask 077 && cat >"$1"' - "$file"
  fi
}
