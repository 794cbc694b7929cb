-- A second question on numbers only, so that a plain array is enough to ask it.
SELECT ml.create_project('churn by minutes', 'classification')
 WHERE NOT EXISTS (SELECT FROM ml.list_projects('churn by minutes'));
SELECT ml.define_task('churn by minutes', 'churn', 'churn', features => ARRAY['total_day_minutes', 'total_eve_minutes',
  'total_night_minutes', 'total_intl_minutes', 'number_customer_service_calls']);
SELECT run_id FROM ml.train('churn by minutes', algorithm => 'xgboost', hyperparams => '{"n_estimators": 40}') \gset
SELECT ml.wait_run(:run_id, '10 minutes') AS status;
SELECT id, churn, round(ml.predict('churn by minutes', ARRAY[total_day_minutes, total_eve_minutes, total_night_minutes,
       total_intl_minutes, number_customer_service_calls])::numeric, 4) AS p_yes
  FROM churn ORDER BY id LIMIT 10;

-- What there is now, and who answers.
SELECT model_id, project, algorithm, deployed, bytes, snapshot_id FROM ml.list_models() ORDER BY model_id DESC LIMIT 5;
SELECT snapshot_id, relation, rows, added_files, bytes, status FROM ml.list_snapshots() ORDER BY snapshot_id DESC LIMIT 5;
SELECT worker, alive, in_flight, queue_depth, models_loaded, version FROM ml.worker_status();
