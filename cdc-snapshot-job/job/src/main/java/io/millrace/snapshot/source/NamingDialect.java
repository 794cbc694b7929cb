package io.millrace.snapshot.source;

import io.debezium.connector.postgresql.connection.PostgresConnection;
import io.debezium.connector.postgresql.connection.PostgresReplicationConnection;
import io.debezium.relational.TableId;
import org.apache.flink.cdc.connectors.base.config.JdbcSourceConfig;
import org.apache.flink.cdc.connectors.base.source.meta.offset.Offset;
import org.apache.flink.cdc.connectors.base.source.meta.split.SnapshotSplit;
import org.apache.flink.cdc.connectors.base.source.meta.split.SourceSplitBase;
import org.apache.flink.cdc.connectors.base.source.reader.external.JdbcSourceFetchTaskContext;
import org.apache.flink.cdc.connectors.postgres.source.PostgresDialect;
import org.apache.flink.cdc.connectors.postgres.source.config.PostgresSourceConfig;
import org.apache.flink.cdc.connectors.postgres.source.fetch.PostgresSourceFetchTaskContext;
import org.jspecify.annotations.Nullable;

/**
 * The connector's dialect, for tables of any name: while a chunk is read, the connector uses the table's name as a regular
 * expression, so it is given one that matches this name. And with two doors closed behind which changes get lost: a slot that
 * vanished is not made anew behind a position that is known, and the slot never moves beyond what a checkpoint holds.
 */
final class NamingDialect extends PostgresDialect {
    private static final long serialVersionUID = 1L;

    private transient volatile boolean continuing;

    NamingDialect(PostgresSourceConfig config) {
        super(config);
    }

    @Override
    public JdbcSourceFetchTaskContext createFetchTaskContext(JdbcSourceConfig config) {
        return new NamingContext(config, this);
    }

    /** Says whether the source continues from a state, for which the slot must be there. */
    void continuing(boolean value) {
        continuing = value;
    }

    /** Only asked for when the slot does not exist, to make it. */
    @Override
    public PostgresReplicationConnection openPostgresReplicationConnection(PostgresConnection connection) {
        if (continuing) {
            throw new IllegalStateException(
                    "replication slot is gone, every table must be loaded again: slot=" + getSlotName());
        }
        return super.openPostgresReplicationConnection(connection);
    }

    /** Without an offset the connector would confirm what it has read last, which no checkpoint may hold yet. */
    @Override
    public void notifyCheckpointComplete(long checkpointId, @Nullable Offset offset) throws Exception {
        if (offset != null) {
            super.notifyCheckpointComplete(checkpointId, offset);
        }
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
