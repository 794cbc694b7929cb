#!/usr/bin/env bash
# What SQL predicts for a row, HTTP predicts for it too, to the last bit; deployments are followed, outages survived.
. "$(dirname "$0")/lib.sh"

project='Kündigung "A/B" 100% 🚀'
encoded=$(printf %s "$project" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g')
http=http://127.0.0.1:$(port gateway-http)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ask PATH [CURL ARGUMENTS..]: the body of the answer, whatever its status.
ask() {
  local path=$1
  shift
  curl --silent --show-error --max-time 60 "$@" "$http$path" || true
}

# json EXPRESSION ANSWER: a value of a small answer, which the expression calls j.
json() { sql_or_error "SELECT $1 FROM (SELECT \$json\$$2\$json\$::jsonb AS j) a"; }

# version_of PATH [CURL ARGUMENTS..]: the model that answered, or the error.
version_of() { ask "$@" | sed 's/^{"model_name":.*"model_version":"\([0-9]*\)".*/\1/'; }

forget_project "$project"
make_churn_table http_churn
first=$(sql "SELECT model_id FROM ml.run_status($(train "$project" http_churn churn '{"n_estimators": 30}'))")
sleep 1
equals "the gateway is ready" "$(ask /v2/health/ready)" '{"ready":true}'
metadata=$(ask "/v2/models/$encoded")
equals "a project is found by its name" "$(json "j ->> 'name'" "$metadata")" "$project"
equals "with its model" "$(json "j #>> '{versions,-1}'" "$metadata")" "$first"
equals "its inputs are the columns that it was trained on" \
  "$(json "(SELECT string_agg(i ->> 'name', ', ') FROM jsonb_array_elements(j -> 'inputs') i)" "$metadata")" "$EXACT_CHURN_FEATURES"

# One input for each column, all rows.
sql "SELECT json_build_object(
  'inputs', (SELECT json_agg(json_build_object('name', column_name, 'shape', ARRAY[(SELECT count(*) FROM http_churn)],
      'datatype', CASE data_type WHEN 'text' THEN 'BYTES' WHEN 'integer' THEN 'INT32' ELSE 'FP64' END,
      'data', (SELECT json_agg(to_jsonb(c) -> column_name::text ORDER BY id) FROM http_churn c)))
    FROM information_schema.columns WHERE table_name = 'http_churn' AND column_name NOT IN ('id', 'churn')),
  'outputs', '[{\"name\": \"prediction\"}, {\"name\": \"probabilities\"}, {\"name\": \"label\"}]'::json)" >"$work/request.json"

# same_as_sql CLAIM MODEL_ID: the answer in $work/answer.json says of every row what SQL says.
same_as_sql() {
  psql_as_owner -d "$DATABASE" -c "DROP TABLE IF EXISTS http_answer; CREATE TABLE http_answer (answer jsonb)"
  psql_as_owner -d "$DATABASE" -c "\\copy http_answer FROM pstdin WITH (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')" <"$work/answer.json"
  holds "$1" "WITH answers AS (
      SELECT p.n, p.value::text::float8 AS prediction, l.value AS label,
        ARRAY[(o.probabilities -> (2 * p.n::int - 2))::text::float8, (o.probabilities -> (2 * p.n::int - 1))::text::float8] AS probabilities
      FROM (SELECT answer #> '{outputs,0,data}' AS predictions, answer #> '{outputs,1,data}' AS probabilities,
          answer #> '{outputs,2,data}' AS labels FROM http_answer WHERE answer ->> 'model_version' = '$2') o,
        jsonb_array_elements(o.predictions) WITH ORDINALITY p(value, n)
        JOIN LATERAL jsonb_array_elements_text(o.labels) WITH ORDINALITY l(value, n) USING (n)),
    rows AS (SELECT row_number() OVER (ORDER BY id) AS n, c FROM http_churn c)
    SELECT count(*) = 5000 AND bool_and(prediction = ml.predict('$project', c) AND label = ml.predict_class('$project', c)
        AND probabilities = ml.predict_proba('$project', c))
    FROM answers JOIN rows USING (n)"
}

ask "/v2/models/$encoded/infer" --data-binary "@$work/request.json" >"$work/answer.json"
same_as_sql "all 5,000 customers have the same prediction, probabilities and label by SQL and by HTTP" "$first"

second=$(sql "SELECT model_id FROM ml.run_status($(train "$project" http_churn churn '{"n_estimators": 5, "max_depth": 2}'))")
sql "SELECT ml.deploy($second)" >/dev/null
sleep 1
ask "/v2/models/$encoded/infer" --data-binary "@$work/request.json" >"$work/answer.json"
same_as_sql "a deployment is followed within a second" "$second"
equals "the model before it is still asked by its version" \
  "$(version_of "/v2/models/$encoded/versions/$first/infer" --data-binary "@$work/request.json")" "$first"
equals "the index lists both" \
  "$(json "(SELECT string_agg(m ->> 'version', ' ') FROM jsonb_array_elements(j) m WHERE m ->> 'name' = '$project')" "$(ask /v2/repository/index -X POST)")" \
  "$first $second"
equals "a model that is unloaded is not ready" \
  "$(json "j ->> 'state'" "$(ask "/v2/repository/models/$encoded/unload" -X POST)") $(ask "/v2/models/$encoded/ready" -o /dev/null -w '%{http_code}')" \
  "UNAVAILABLE 503"
holds "SQL loads it again" "SELECT ml.predict('$project', c) BETWEEN 0 AND 1 FROM http_churn c LIMIT 1"
equals "an unknown project is 404" "$(ask /v2/models/nobody/infer -d '{}' -w ' %{http_code}')" '{"error":"project does not exist: project=nobody"} 404'
equals "a column that is missing is named" \
  "$(ask "/v2/models/$encoded/infer" -d '{"inputs":[{"name":"state","shape":[1],"datatype":"BYTES","data":["KS"]}]}' -w ' %{http_code}')" \
  '{"error":"feature column is missing: column=account_length, givenColumns=1"} 400'
sql "INSERT INTO ml.limits (project_id, rows_per_second) SELECT project_id, 1 FROM ml.list_projects('$project')" >/dev/null
sleep 1
ask "/v2/models/$encoded/infer" --data-binary "@$work/request.json" -o /dev/null
answer=$(ask "/v2/models/$encoded/infer" --data-binary "@$work/request.json" -w ' %{http_code}')
equals "the limits of the project count, whoever asks: after 5,000 rows by HTTP there is none left" \
  "$(json "j ->> 'error'" "${answer% *}" | sed 's/, retryMillis=[0-9]*$//') ${answer##* }" \
  "limit of the project is reached: project=$project, limit=rows_per_second, value=1, requested=5000 429"
fails "nor by SQL" 53400 "SELECT ml.predict('$project', c) FROM http_churn c LIMIT 1"
sql "DELETE FROM ml.limits l USING ml.list_projects('$project') p WHERE l.project_id = p.project_id" >/dev/null
sleep 1
holds "the gateway's role reads four tables, in part, and can do nothing else" \
  "SELECT rolcanlogin AND NOT (rolsuper OR rolreplication OR rolcreaterole OR rolcreatedb OR rolbypassrls)
     AND NOT EXISTS (SELECT FROM pg_auth_members WHERE member = r.oid)
     AND has_column_privilege(r.oid, 'ml.models', 'uri', 'SELECT') AND NOT has_column_privilege(r.oid, 'ml.models', 'metrics', 'SELECT')
     AND NOT has_any_column_privilege(r.oid, 'ml.runs', 'SELECT') AND NOT has_any_column_privilege(r.oid, 'http_churn', 'SELECT')
     AND NOT EXISTS (SELECT FROM pg_proc p WHERE pronamespace = 'ml'::regnamespace AND has_function_privilege(r.oid, p.oid, 'EXECUTE'))
   FROM pg_roles r WHERE rolname = 'millrace_gateway'"

stop_postgres >/dev/null
sleep 1
equals "without the database models that are known are still served" \
  "$(version_of "/v2/models/$encoded/infer" --data-binary "@$work/request.json")" "$second"
equals "and the gateway stays ready" "$(ask /v2/health/ready)" '{"ready":true}'
"$CHECKOUT/scripts/start" >/dev/null
sql "SELECT ml.deploy($first)" >/dev/null
answer=
for _ in 1 2 3 4 5 6 7 8 9 10; do
  answer=$(version_of "/v2/models/$encoded/infer" --data-binary "@$work/request.json")
  [ "$answer" != "$first" ] || break
  sleep 0.5
done
equals "when it is back, deployments are followed again" "$answer" "$first"
