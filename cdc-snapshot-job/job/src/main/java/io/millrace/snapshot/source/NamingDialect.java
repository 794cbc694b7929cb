package io.millrace.snapshot.source;

import io.debezium.relational.TableId;
import org.apache.flink.cdc.connectors.base.config.JdbcSourceConfig;
import org.apache.flink.cdc.connectors.base.source.meta.split.SnapshotSplit;
import org.apache.flink.cdc.connectors.base.source.meta.split.SourceSplitBase;
import org.apache.flink.cdc.connectors.base.source.reader.external.JdbcSourceFetchTaskContext;
import org.apache.flink.cdc.connectors.postgres.source.PostgresDialect;
import org.apache.flink.cdc.connectors.postgres.source.config.PostgresSourceConfig;
import org.apache.flink.cdc.connectors.postgres.source.fetch.PostgresSourceFetchTaskContext;

/**
 * The connector's dialect for tables of any name: while a chunk is read, the connector uses the table's name as a regular
 * expression, so it is given one that matches this name.
 */
final class NamingDialect extends PostgresDialect {
    private static final long serialVersionUID = 1L;

    NamingDialect(PostgresSourceConfig config) {
        super(config);
    }

    @Override
    public JdbcSourceFetchTaskContext createFetchTaskContext(JdbcSourceConfig config) {
        return new NamingContext(config, this);
    }

    private static final class NamingContext extends PostgresSourceFetchTaskContext {
        NamingContext(JdbcSourceConfig config, PostgresDialect dialect) {
            super(config, dialect);
        }

        @Override
        public void configure(SourceSplitBase split) {
            super.configure(split.isSnapshotSplit() ? escaped(split.asSnapshotSplit()) : split);
        }

        private static SnapshotSplit escaped(SnapshotSplit split) {
            TableId table = split.getTableId();
            return new SnapshotSplit(
                    new TableId(null, "(?-i)" + Captured.escape(table.schema()), Captured.escape(table.table())),
                    split.splitId(),
                    split.getSplitKeyType(),
                    split.getSplitStart(),
                    split.getSplitEnd(),
                    split.getHighWatermark(),
                    split.getTableSchemas());
        }
    }
}
