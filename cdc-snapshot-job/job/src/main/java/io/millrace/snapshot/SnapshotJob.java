package io.millrace.snapshot;

import io.millrace.jobs.DatabaseConnections;
import io.millrace.lake.LakeConfig;
import io.millrace.snapshot.publish.SnapshotPublisher;
import io.millrace.snapshot.source.ChangeSource;
import java.time.Duration;
import java.util.List;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.iceberg.flink.sink.dynamic.DynamicIcebergSink;

/*
 * One source, one sink for all tables. The sink routes each record by the table it names, so the graph is the same whatever the
 * list of tables is and every operator finds its state again after the list has changed. It commits a table only when there is
 * something to commit, and checks before each commit that the checkpoint is not in the table's history yet.
 *
 *   log -> changes -+-> publisher            (same task: both see the same cut)
 *                   +-> records -> writer -> aggregator -> committer
 */
/** The graph of the change job. */
final class SnapshotJob {
    /** Tables whose writers and metadata the sink keeps; beyond it, they are opened again and again. */
    private static final int SINK_CACHE_TABLES = 2_000;

    private static final Duration CHECKPOINT_LIMIT = Duration.ofMinutes(30);
    /** The job is restarted without end, each time after twice the pause, as long as it does not run well for a while. */
    private static final Duration FIRST_RESTART = Duration.ofMillis(500);

    private static final Duration LAST_RESTART = Duration.ofSeconds(30);
    private static final Duration CALM = Duration.ofMinutes(2);

    private SnapshotJob() {}

    static void define(
            StreamExecutionEnvironment environment,
            DatabaseConnections database,
            LakeConfig lake,
            SnapshotConfig config,
            List<TableRoute> tables) {
        configure(environment, config);
        DataStream<Change> changes = environment
                .fromSource(ChangeSource.of(database, config, tables), WatermarkStrategy.noWatermarks(), "changes")
                .uid("changes")
                .returns(new ChangeTypeInformation());
        changes.process(new SnapshotPublisher(lake, database, config, tables))
                .name("snapshot publisher")
                .uid("snapshot-publisher")
                .sinkTo(new DiscardingSink<>())
                .name("nothing")
                .uid("nothing");
        DynamicIcebergSink.forInput(changes)
                .generator(new LakeRecords(tables))
                .catalogLoader(new SharedCatalog(lake))
                .uidPrefix("lake")
                .writeParallelism(1)
                .cacheMaxSize(SINK_CACHE_TABLES)
                .append();
    }

    private static void configure(StreamExecutionEnvironment environment, SnapshotConfig config) {
        Configuration options = new Configuration();
        options.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(config.checkpointMillis()));
        options.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, CHECKPOINT_LIMIT);
        options.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, config.checkpointUri());
        options.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        options.set(CheckpointingOptions.MAX_RETAINED_CHECKPOINTS, 2);
        options.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
        options.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_INITIAL_BACKOFF, FIRST_RESTART);
        options.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_MAX_BACKOFF, LAST_RESTART);
        options.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_BACKOFF_MULTIPLIER, 2.0);
        options.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_RESET_BACKOFF_THRESHOLD, CALM);
        environment.configure(options);
        environment.setParallelism(1);
        // Rows are handed from operator to operator and never altered after the sink has them.
        environment.getConfig().enableObjectReuse();
    }
}
