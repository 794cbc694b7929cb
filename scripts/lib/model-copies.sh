# shellcheck shell=bash
# Models that the gateway has never seen, at the cost of a copy: for what deploys do to it.

# copy_model MODEL: the same model as if trained once more, a package with a digest of its own; prints its id. Packages are
# only read by their digests, so the gateway has never seen it.
copy_model() {
  local directory target
  directory=$RUN/store/$(sql "SELECT substr(uri, 7) FROM ml.models WHERE model_id = $1")
  target=$directory-copy-$(date +%s%N)
  as_run_user cp -r "$directory" "$target"
  as_run_user sed -i "s/\"created-at\":\"[^\"]*\"/\"created-at\":\"$(date -u +%FT%T.%NZ)\"/" "$target/manifest.json"
  sql "INSERT INTO ml.models (project_id, algorithm, task, metrics, uri, sha256, bytes, format, snapshot_id, fitted_id, labels)
    SELECT project_id, algorithm, task, metrics, 'store:${target#"$RUN/store/"}', '$(sha256sum <"$target/manifest.json" | cut -c 1-64)',
      bytes, format, snapshot_id, fitted_id, labels FROM ml.models WHERE model_id = $1 RETURNING model_id"
}

# forget_copies MODEL..: models that copy_model made, none of them deployed.
forget_copies() {
  local uri
  for uri in $(sql "DELETE FROM ml.models WHERE model_id IN ($(IFS=, && echo "$*")) AND uri LIKE '%-copy-%' RETURNING substr(uri, 7)"); do
    rm -rf "${RUN:?}/store/$uri"
  done
}
