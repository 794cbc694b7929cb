#!/usr/bin/env bash
# Changes of a table and a snapshot of them belong together: the snapshot is the table as it was at the commit.
. "$(dirname "$0")/lib.sh"

forget_project ledger
psql_as_owner -d "$DATABASE" <<'SQL'
DROP TABLE IF EXISTS ledger;
CREATE TABLE ledger (
  id int PRIMARY KEY, amount numeric(12,2), rate double precision, small real, big bigint, flag boolean, note text,
  on_day date, seen_at timestamp, seen_at_zone timestamptz, label text NOT NULL
);
INSERT INTO ledger
SELECT g, g * 1.25, sqrt(g), g / 3.0, g::bigint * 1000000007, g % 3 = 0, CASE WHEN g % 7 = 0 THEN NULL ELSE 'note ' || g END,
       date '2020-01-01' + g % 1000, timestamp '2020-01-01' + g * interval '1 minute 1 microsecond',
       timestamptz '2020-01-01 UTC' + g * interval '1 hour', CASE WHEN g % 4 = 0 THEN 'a' ELSE 'b' END
  FROM generate_series(1, 20000) g;
SQL

# The same numbers, asked of PostgreSQL and of the lake at a tag.
CHECKSUM="COUNT(*), SUM(CAST(id AS BIGINT)), SUM(amount), SUM(big), COUNT(note), SUM(CHAR_LENGTH(note)), SUM(CASE WHEN flag THEN 1 ELSE 0 END), MIN(on_day), MAX(on_day), SUM(CASE WHEN label = 'a' THEN id ELSE 0 END)"
checksum_of_table() { sql "SELECT concat_ws(' ', $CHECKSUM) FROM ledger"; }
checksum_at() {
  lake_value "SELECT CONCAT_WS(' ', $(cast_all "$CHECKSUM")) FROM lake.public.ledger /*+ OPTIONS('tag'='ml_snapshot_$1') */"
}
# Wraps each expression of the list for Flink's CONCAT_WS, which wants strings.
cast_all() { sed -E 's/, (COUNT|SUM|MIN|MAX)/\n\1/g' <<<"$1" | sed 's/^\(.*\)$/CAST(\1 AS STRING)/' | paste -sd,; }
snapshot_ready() { eventually "snapshot $1 is ready" 120 "SELECT status = 'ready' FROM ml.list_snapshots() WHERE snapshot_id = $1"; }

first=$(sql "SELECT snapshot_id FROM ml.snapshot('ledger', 'label')")
snapshot_ready "$first"
before=$(checksum_of_table)
equals "the first snapshot equals the table" "$(checksum_at "$first")" "$before"

# One transaction: changes and the request for a snapshot of exactly them.
second=$(sql "BEGIN;
  UPDATE ledger SET amount = amount + 1, note = 'changed' WHERE id BETWEEN 100 AND 149;
  UPDATE ledger SET id = id + 1000000 WHERE id BETWEEN 500 AND 504;
  DELETE FROM ledger WHERE id BETWEEN 200 AND 219;
  INSERT INTO ledger VALUES (30001, NULL, 'NaN', NULL, -1, NULL, 'naïve \"quoted\" 🙂', '1969-12-31', '1969-12-31 23:59:59.999999', '1969-12-31 UTC', 'b');
  SELECT ml.refresh_snapshot($first);
  COMMIT" | tail -n 1)
after=$(checksum_of_table)
sql "UPDATE ledger SET amount = 0 WHERE id = 1" # after the commit: not part of the snapshot
snapshot_ready "$second"
equals "the refreshed snapshot equals the table at that commit" "$(checksum_at "$second")" "$after"
equals "the first snapshot still reads the same" "$(checksum_at "$first")" "$before"
holds "it names its parent" "SELECT parent_id = $first FROM ml.list_snapshots() WHERE snapshot_id = $second"
holds "the bytes added are those of the change, not of the table" \
  "SELECT added_bytes > 0 AND added_bytes < 0.25 * (SELECT bytes FROM ml.snapshots WHERE snapshot_id = $first) FROM ml.snapshots WHERE snapshot_id = $second"

third=$(sql "SELECT ml.refresh_snapshot($second)")
snapshot_ready "$third"
equals "a snapshot without changes since then is ready too" "$(checksum_at "$third")" "$(checksum_of_table)"
fourth=$(sql "SELECT ml.refresh_snapshot($third)")
snapshot_ready "$fourth"

run=$(train ledger ledger label '{"n_estimators": 10}')
equals "training on the changed table succeeds" "$(sql "SELECT status || coalesce(': ' || error, '') FROM ml.run_status($run)")" succeeded
holds "and names the newest snapshot" \
  "SELECT m.snapshot_id = $fourth FROM ml.list_models('ledger') m ORDER BY model_id DESC LIMIT 1"
