package io.millrace.snapshot.source;

import java.io.IOException;
import java.util.function.Predicate;
import org.apache.flink.cdc.connectors.base.config.JdbcSourceConfig;
import org.apache.flink.cdc.connectors.base.dialect.DataSourceDialect;
import org.apache.flink.cdc.connectors.base.source.meta.split.SourceRecords;
import org.apache.flink.cdc.connectors.base.source.reader.IncrementalSourceReaderContext;
import org.apache.flink.cdc.connectors.base.source.reader.IncrementalSourceSplitReader;
import org.apache.flink.cdc.connectors.base.source.utils.hooks.SnapshotPhaseHooks;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.source.SourceRecord;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;

/** The connector's split reader, its fetches cut by {@link CutRecords}. */
@SuppressWarnings("try") // closing may be interrupted; the fetcher copes with it
final class CuttingSplitReader extends IncrementalSourceSplitReader<JdbcSourceConfig> {
    private final Predicate<SourceRecord> cutBehind;

    CuttingSplitReader(
            int subtask,
            DataSourceDialect<JdbcSourceConfig> dialect,
            JdbcSourceConfig config,
            IncrementalSourceReaderContext context,
            SnapshotPhaseHooks hooks,
            Predicate<SourceRecord> cutBehind) {
        super(subtask, dialect, config, context, hooks);
        this.cutBehind = cutBehind;
    }

    @Override
    public RecordsWithSplitIds<SourceRecords> fetch() throws IOException {
        return new CutRecords(super.fetch(), cutBehind);
    }
}
