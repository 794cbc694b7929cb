SELECT s.rows AS "rows in the snapshot", s.iceberg_snapshot_id AS "Iceberg snapshot", pg_size_pretty(s.bytes) AS "bytes in the lake",
       left(s.fitted_id, 16) AS "fitted preprocessing", s.feature_count AS "features",
       round((r.metrics->>'auc')::numeric, 4) AS "test AUC",
       r.metrics->>'train-seconds' AS "training seconds",
       pg_size_pretty((r.metrics->>'peak-anonymous-bytes')::bigint) AS "peak memory of training",
       :'tps' AS "predictions per second, 8 clients",
       :'started' AS "seconds until the platform ran", :'predicted' AS "seconds until the first predictions"
  FROM ml.runs r JOIN ml.projects p USING (project_id) JOIN ml.snapshots s USING (snapshot_id)
 WHERE p.name = 'churn' AND r.status = 'succeeded' ORDER BY r.run_id DESC LIMIT 1;
