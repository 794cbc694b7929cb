package io.millrace.snapshot.source;

import io.millrace.jobs.DatabaseConnections;
import io.millrace.snapshot.Change;
import io.millrace.snapshot.SnapshotConfig;
import io.millrace.snapshot.TableRoute;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.function.Supplier;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.cdc.connectors.base.config.JdbcSourceConfig;
import org.apache.flink.cdc.connectors.base.options.StartupOptions;
import org.apache.flink.cdc.connectors.base.source.assigner.state.PendingSplitsState;
import org.apache.flink.cdc.connectors.base.source.meta.split.SourceSplitBase;
import org.apache.flink.cdc.connectors.base.source.metrics.SourceReaderMetrics;
import org.apache.flink.cdc.connectors.base.source.reader.IncrementalSourceReaderContext;
import org.apache.flink.cdc.connectors.base.source.reader.IncrementalSourceSplitReader;
import org.apache.flink.cdc.connectors.base.utils.SourceRecordUtils;
import org.apache.flink.cdc.connectors.postgres.source.PostgresSourceBuilder.PostgresIncrementalSource;
import org.apache.flink.cdc.connectors.postgres.source.config.PostgresSourceConfigFactory;
import org.apache.flink.cdc.connectors.postgres.source.enumerator.PostgresSourceEnumerator;
import org.apache.flink.cdc.connectors.postgres.source.offset.PostgresOffsetFactory;
import org.apache.flink.cdc.connectors.postgres.source.reader.PostgresSourceReader;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.source.SourceRecord;

/** The changes of all captured tables and the snapshot requests, in the order of the log, each exactly once per checkpoint. */
@SuppressWarnings("unchecked") // the connector's reader is raw
public final class ChangeSource extends PostgresIncrementalSource<Change> {
    private static final long serialVersionUID = 1L;

    private final Captured captured;
    private final NamingDialect naming;
    private final DatabaseConnections database;

    private ChangeSource(
            PostgresSourceConfigFactory config, Captured captured, NamingDialect naming, DatabaseConnections database) {
        super(config, new ChangeDeserializer(captured), new PostgresOffsetFactory(), naming);
        this.captured = captured;
        this.naming = naming;
        this.database = database;
    }

    /** The source of {@code tables} and of the requests' table; opens no connection yet. */
    public static ChangeSource of(DatabaseConnections database, SnapshotConfig settings, List<TableRoute> tables) {
        Captured captured = new Captured(tables);
        PostgresSourceConfigFactory config = new PostgresSourceConfigFactory();
        config.hostname(database.host());
        config.port(database.port());
        config.database(database.database());
        config.username(database.user());
        config.password(database.password());
        config.tableList(captured.tablePatterns());
        config.slotName(settings.slotName());
        config.decodingPluginName("pgoutput");
        config.debeziumProperties(debezium(settings));
        config.startupOptions(StartupOptions.initial());
        config.scanNewlyAddedTableEnabled(true);
        config.setLsnCommitCheckpointsDelay(0);
        config.splitSize(settings.chunkRows());
        config.fetchSize(settings.fetchRows());
        config.connectionPoolSize(4);
        config.closeIdleReaders(false);
        // Chunks are not reconciled with the log one by one, which would take a replication slot for each: see
        // BoundaryEmitter.
        config.skipSnapshotBackfill(true);
        config.heartbeatInterval(Duration.ofMillis(settings.heartbeatMillis()));
        return new ChangeSource(config, captured, new NamingDialect(config.create(0)), database);
    }

    private static Properties debezium(SnapshotConfig settings) {
        Properties properties = new Properties();
        properties.setProperty("publication.name", settings.publicationName());
        properties.setProperty("publication.autocreate.mode", "disabled");
        properties.setProperty("unavailable.value.placeholder", RowConverter.UNCHANGED);
        properties.setProperty("decimal.handling.mode", "string");
        properties.setProperty("tombstones.on.delete", "false");
        // The message itself is of no interest: that the position moved past it is.
        properties.setProperty("message.prefix.exclude.list", ".*");
        properties.setProperty("poll.interval.ms", "50");
        properties.setProperty("truncate.handling.mode", "include");
        // A slot stays busy for a moment after its reader is gone.
        properties.setProperty("slot.max.retries", "20");
        properties.setProperty("slot.retry.delay.ms", "500");
        return properties;
    }

    @Override
    public PostgresSourceEnumerator createEnumerator(SplitEnumeratorContext<SourceSplitBase> context) {
        naming.continuing(false);
        return super.createEnumerator(context);
    }

    @Override
    public PostgresSourceEnumerator restoreEnumerator(
            SplitEnumeratorContext<SourceSplitBase> context, PendingSplitsState state) {
        naming.continuing(true);
        return super.restoreEnumerator(context, state);
    }

    @Override
    public PostgresSourceReader createReader(SourceReaderContext context) {
        JdbcSourceConfig config = configFactory.create(context.getIndexOfSubtask());
        IncrementalSourceReaderContext readerContext = new IncrementalSourceReaderContext(context);
        Boundary boundary = new Boundary();
        Supplier<IncrementalSourceSplitReader<JdbcSourceConfig>> splitReaders = () -> new CuttingSplitReader(
                context.getIndexOfSubtask(), dataSourceDialect, config, readerContext, snapshotHooks, this::cutBehind);
        BoundaryEmitter emitter = new BoundaryEmitter(
                (ChangeDeserializer) deserializationSchema,
                new SourceReaderMetrics(context.metricGroup()),
                offsetFactory,
                captured,
                boundary);
        return new BoundaryReader(
                splitReaders,
                emitter,
                context.getConfiguration(),
                readerContext,
                config,
                sourceSplitSerializer,
                dataSourceDialect,
                captured,
                boundary,
                database);
    }

    private boolean cutBehind(SourceRecord record) {
        return SourceRecordUtils.isHeartbeatEvent(record) || captured.isRequest(record);
    }
}
