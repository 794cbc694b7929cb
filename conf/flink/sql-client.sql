-- Start-up file of scripts/sql-client: the lake as catalog `lake`, answers as text tables.
-- scripts/start replaces uri and warehouse. The password comes from the file named by the environment variable PGPASSFILE, never from here.
CREATE CATALOG lake WITH (
  'type' = 'iceberg',
  'catalog-impl' = 'org.apache.iceberg.jdbc.JdbcCatalog',
  'jdbc.schema-version' = 'V1',
  'jdbc.user' = 'millrace_worker',
  'uri' = 'jdbc:postgresql://127.0.0.1:5432/postgres?currentSchema=ml_lake',
  'warehouse' = 'file:///var/lib/millrace/lake'
);
SET 'execution.runtime-mode' = 'batch';
SET 'sql-client.execution.result-mode' = 'tableau';
SET 'table.display.max-column-width' = '200';
