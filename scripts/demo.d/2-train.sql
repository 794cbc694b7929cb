-- A project names a question. Training returns at once with a run; the work happens outside the database.
SELECT ml.create_project('churn', 'classification', 'who is going to leave?')
 WHERE NOT EXISTS (SELECT FROM ml.list_projects('churn'));
-- The seed chooses which quarter of the rows is kept for the test.
SELECT run_id, status FROM ml.train('churn', relation_name => 'churn', y_column_name => 'churn', algorithm => 'xgboost',
  hyperparams => '{"n_estimators": 100, "max_depth": 6, "eta": 0.3}') \gset
SELECT :run_id AS run_id, :'status' AS status;

-- Waiting is a separate call: change stream -> lake -> matrix -> boosting -> model store -> gateway.
SELECT ml.wait_run(:run_id, '10 minutes') AS status;
SELECT run_id, algorithm, status, model_id, finished_at - started_at AS took, error FROM ml.run_status(:run_id);
SELECT key AS metric, value FROM ml.run_status(:run_id), jsonb_each_text(metrics - 'learning-curve') ORDER BY key;
