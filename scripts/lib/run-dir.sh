# shellcheck shell=bash
# The run directory: everything the platform writes, except the shared-memory region.

RUN_LINK=${MILLRACE_RUN_DIR:-$CHECKOUT/.run}
case $RUN_LINK in /*) ;; *) RUN_LINK=$PWD/$RUN_LINK ;; esac

short_hash() { printf '%s' "$1" | sha256sum | cut -c 1-12; }

# Sets RUN (the real path) and REGION once the directory exists.
locate_run_dir() {
  RUN=$(readlink -f "$RUN_LINK")
  REGION=/dev/shm/millrace-$(short_hash "$RUN")
  export MILLRACE_RUN_DIR=$RUN
}

run_dir_exists() { [ -d "$RUN_LINK/" ]; }

require_run_dir() {
  run_dir_exists || die "no platform here: directory=$RUN_LINK" "start one with scripts/start"
  locate_run_dir
}

# When the run user cannot reach the checkout (it is below /root, say), the real directory lives in /var/lib/millrace.
make_run_dir() {
  local parent real user
  user=$(run_user)
  parent=$(dirname "$RUN_LINK")
  mkdir -p "$parent"
  if ! run_dir_exists; then
    rm -f "$RUN_LINK" # a dangling link
    if as_run_user test -x "$parent"; then
      mkdir -p "$RUN_LINK"
    else
      real=/var/lib/millrace/$(short_hash "$RUN_LINK")
      mkdir -p "$real"
      ln -s "$real" "$RUN_LINK"
      say "user $user cannot reach $parent: the run directory is $real ($RUN_LINK links to it)"
    fi
  fi
  locate_run_dir
  if is_root; then chown millrace:millrace "$RUN"; fi
  chmod 0750 "$RUN"
  as_run_user mkdir -p "$RUN"/{conf,log,pid,secret,tmp,flink,lib,lake,store,matrix,checkpoints,savepoints,snapshot,cache,import}
  as_run_user chmod 0700 "$RUN/secret"
}
