#!/usr/bin/env bash
# Models made elsewhere: in as ONNX files, deployed, and asked every way that a trained one is; refused with the reason.
. "$(dirname "$0")/lib.sh"

put_plain_model plain.onnx
# account_length int64, total_day_minutes double and state string, each a column; the state is 1 for KS, 2 for OH, else 0. The
# weight of feature f for class c is sin(1 + 2 f + c), the constant c / 10; softmax; a map from "no" and "yes" for each row.
put_model named.onnx <<'MODEL'
H4sIAAAAAAACA42SQWsTQRTHdzabZH1N0nWkaEQQF7wsWGPVS2CNbVAktlSooOSyzG5m27GbmWVnVhJQ0LvgV9iD38GT5uChl4pfydmulQR78DIw/P/vvd//
8WwbNxWVivHD/kkd7kCHRJHIuQoSyg/VEUbkep2LCe251pBI5V0CU4lrqEBm34AeXFZCkSSYkHkwZTzXrTAKq4p7F1W8h7pURFGMosq15bZ2SUiTJzzSv8zr
QuuYzmUgVaaZ5Mh8fjAy958VyPZuQPstSXIqgzgRREnfMD4M9GM8LlDDuwrtCY1JnqhK3tCCUSDUB8I2BeezzWkCHiACKAQUYTSrAO67jaHgEVHeGlhkxuQ5
6gIBmuF6UtJhlFbuB66zyzgl2TAhUrKYaeS70IoEjWMWMco11pc3rwb+j4/OI995ly/8rydHA//Xt+2F/2n98/cStQvAuKJZRNOzFIbh/zw99UvpFlyJys5n
U5e2wMWoNqeyWkMnFVIFKiNcxiKbus2D/acv97ZfF6i2kvYFoBS300yEJGQJU4zKKsVDtzFm6R5J/2Pecse/tzJ2/zkUBzp2EwNY2Jz0wLTR+PZF11Ha1lZs
3fOTKCV7WQo34M/6WwBaalRSeBNWQ+GOqw2erS1WWbdjgeGs73RgCd2p/Qb6/G476wIAAA==
MODEL
# One score for 19 floats: sigmoid of a thousandth of 0.25 + the sum of (f / 2 - 0.5) x f, f from 0.
put_model features.onnx <<'MODEL'
H4sIAAAAAAACA+PgEGIvSS0uycxLt2pj4pLnYqzgYg6PN+Bidoo3EGIslmLNy09JNVBicU/NzbVi4BLnYizmYswWYqyCyBgqMfuW5gAlJLgYq4QYCyCiRkrs
wZnpufmZKVYMcPO1IjmEORgFGJ1A5nv5MDAw7GeAAHsGhgYgPgDEDA4MDApA7ADECUDcAMQTgHgBEG8A4gNAfAGIHwDxByBmcGRg4HDU4ocYDHSzFwtQk50W
L1iAMduLJV+o2SpKFOgvIQEuPg5GIS4uFiGmFAMuJg7hJKBwAYYwoxMLF4MAvxMfF1dipl5+Xl6FXm6OADMAN+v2LCoBAAA=
MODEL

# Plain numbers by position, without any table.
forget_project "imported plain"
sql "SELECT ml.create_project('imported plain', 'regression')" >/dev/null
sha=$(sha256sum "$RUN/import/plain.onnx" | cut -d' ' -f1)
model=$(sql_or_error "SELECT ml.import_model('imported plain', '$(import_uri plain.onnx)', sha256 => '$sha')")
holds "an imported model is a model of the project, not deployed" \
  "SELECT format = 'onnx' AND NOT deployed AND uri LIKE 'store:%/import-%' FROM ml.list_models('imported plain') WHERE model_id = $model"
holds "it can be asked by its id" "SELECT abs(ml.predict($model::bigint, ARRAY[1, 2, 3]) - 1.25) < 1e-6"
sql "SELECT ml.deploy($model)" >/dev/null
holds "an array" "SELECT abs(ml.predict('imported plain', ARRAY[1.5, 8, -2]) - -1.5) < 1e-6"
holds "a row" "SELECT abs(ml.predict('imported plain', ROW(4, 7, 0.5)) - -1.5) < 1e-6"
holds "a batch" "SELECT array_agg(round(p::numeric, 6)) = '{0.25,1.25,-0.75}' FROM ml.predict_batch('imported plain', ARRAY[[0,0,0],[0,9,2],[2,9,0]]) p"
fails "a batch of another width" 22023 "SELECT ml.predict('imported plain', ARRAY[1, 2])"
fails "a missing value that the graph does not take" 22023 "SELECT ml.predict('imported plain', ARRAY[1, NULL, 2])"
before=$(sql "SELECT count(*) FROM ml.models")
sql "BEGIN; SELECT ml.import_model('imported plain', '$(import_uri plain.onnx)'); ROLLBACK" >/dev/null
equals "a rollback leaves no row" "$(sql "SELECT count(*) FROM ml.models")" "$before"

# The columns of a table as they are, and a map of probabilities.
forget_project imported
make_churn_table imported
sql "SELECT ml.create_project('imported', 'classification'); SELECT ml.define_task('imported', 'imported', 'churn')" >/dev/null
fails "a task without a snapshot" 55000 "SELECT ml.import_model('imported', '$(import_uri named.onnx)')"
snapshot=$(sql "SELECT snapshot_id FROM ml.snapshot('imported'::text)")
eventually "the task has a snapshot" 120 "SELECT status = 'ready' FROM ml.list_snapshots('imported') WHERE snapshot_id = $snapshot"
named=$(sql_or_error "SELECT ml.import_model('imported', '$(import_uri named.onnx)')")
sql "SELECT ml.deploy($named)" >/dev/null
psql_as_owner -d "$DATABASE" <<'SQL'
DROP TABLE IF EXISTS imported_expected;
CREATE TABLE imported_expected AS
SELECT id, 1 / (1 + exp(s.no - s.yes)) AS yes, CASE WHEN s.yes > s.no THEN 'yes' ELSE 'no' END AS class FROM imported,
  LATERAL (SELECT CASE state WHEN 'KS' THEN 1 WHEN 'OH' THEN 2 ELSE 0 END AS code) AS k,
  LATERAL (SELECT account_length * sin(1) + total_day_minutes * sin(3) + code * sin(5) AS no,
    0.1 + account_length * sin(2) + total_day_minutes * sin(4) + code * sin(6) AS yes) AS s;
SQL
holds "columns by name: every row's probability is the graph's" "SELECT count(*) = 5000 AND bool_and(abs(p.prediction - e.yes) < 1e-4)
  FROM ml.predict_batch('imported', 'imported', 'id') p JOIN imported_expected e ON e.id::text = p.key"
holds "a row at a time as well" "SELECT bool_and(abs(ml.predict('imported', i) - e.yes) < 1e-4) FROM imported i JOIN imported_expected e USING (id) WHERE id <= 50"
holds "classes" "SELECT bool_and(ml.predict_class('imported', i) = e.class) FROM imported i JOIN imported_expected e USING (id) WHERE abs(e.yes - 0.5) > 1e-3 AND id <= 500"
holds "probabilities" "SELECT bool_and(abs((ml.predict_proba('imported', i))[1] - (1 - e.yes)) < 1e-4) FROM imported i JOIN imported_expected e USING (id) WHERE id <= 50"
holds "a state that no row of the table has" "SELECT ml.predict('imported', i) BETWEEN 0 AND 1 FROM (SELECT * FROM imported LIMIT 1) s,
  LATERAL jsonb_populate_record(s::imported, '{\"state\": \"nowhere\"}') i"
fails "a missing value where the graph has none" 22023 "SELECT ml.predict('imported', i) FROM (SELECT * FROM imported LIMIT 1) s,
  LATERAL jsonb_populate_record(s::imported, '{\"account_length\": null}') i"

# The features that training would see, as a matrix.
features=$(sql_or_error "SELECT ml.import_model('imported', '$(import_uri features.onnx)', snapshot_id => $snapshot)")
sql "SELECT ml.deploy($features)" >/dev/null
holds "a matrix of the task's features" "SELECT bool_and(abs(ml.predict('imported', i) - p.yes) < 1e-5) FROM imported i,
  LATERAL (SELECT 1 / (1 + exp(-0.001 * (0.25 + sum((f.n * 0.5 - 1) * f.value)))) AS yes
    FROM unnest(ml.preprocess('imported', i)) WITH ORDINALITY AS f (value, n)) AS p WHERE id <= 50"
sql "SELECT ml.deploy('imported', 'rollback')" >/dev/null
holds "a rollback brings the other imported model back" "SELECT abs(ml.predict('imported', i) - e.yes) < 1e-4 FROM imported i JOIN imported_expected e USING (id) WHERE id = 1"

# What does not fit is refused, and nothing comes of it.
before=$(sql "SELECT count(*) FROM ml.models")
head -c 100 "$RUN/import/named.onnx" | as_run_user tee "$RUN/import/cut.onnx" >/dev/null
fails "a file of which a part is missing" XX001 "SELECT ml.import_model('imported', '$(import_uri cut.onnx)')"
fails "another number of features" 22023 "SELECT ml.import_model('imported', '$(import_uri plain.onnx)')"
fails "columns that the project does not have" 42804 "SELECT ml.import_model('imported plain', '$(import_uri named.onnx)')"
fails "a file with another digest" 22023 "SELECT ml.import_model('imported plain', '$(import_uri plain.onnx)', sha256 => repeat('0', 64))"
fails "a file outside the import directory" 22023 "SELECT ml.import_model('imported plain', 'file:$RUN/import/../conf/gateway.properties')"
fails "a package of the store" 22023 "SELECT ml.import_model('imported plain', (SELECT uri FROM ml.models WHERE model_id = $named) || '/model.onnx')"
as_run_user mkdir -p "$RUN/store/import.d"
as_run_user cp "$RUN/import/plain.onnx" "$RUN/store/import.d/plain.onnx"
fails "a file of the store that is not there" 22023 "SELECT ml.import_model('imported plain', 'store:import.d/nothing.onnx')"
equals "no model came of any of them" "$(sql "SELECT count(*) FROM ml.models")" "$before"
holds "a file of the store" "SELECT ml.import_model('imported plain', 'store:import.d/plain.onnx') > 0"
holds "nothing is left where packages are put together" "SELECT count(*) = 0 FROM pg_ls_dir('$RUN/cache') AS d WHERE d LIKE '.fetch%'"
