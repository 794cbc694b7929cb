package io.millrace.snapshot.source;

import io.debezium.relational.TableId;
import io.millrace.jobs.DatabaseConnections;
import io.millrace.snapshot.Slots;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.cdc.connectors.base.config.JdbcSourceConfig;
import org.apache.flink.cdc.connectors.base.dialect.DataSourceDialect;
import org.apache.flink.cdc.connectors.base.source.meta.events.LatestFinishedSplitsNumberEvent;
import org.apache.flink.cdc.connectors.base.source.meta.offset.Offset;
import org.apache.flink.cdc.connectors.base.source.meta.split.FinishedSnapshotSplitInfo;
import org.apache.flink.cdc.connectors.base.source.meta.split.SourceSplitBase;
import org.apache.flink.cdc.connectors.base.source.meta.split.SourceSplitSerializer;
import org.apache.flink.cdc.connectors.base.source.meta.split.StreamSplit;
import org.apache.flink.cdc.connectors.base.source.reader.IncrementalSourceReaderContext;
import org.apache.flink.cdc.connectors.base.source.reader.IncrementalSourceSplitReader;
import org.apache.flink.cdc.connectors.postgres.source.PostgresDialect;
import org.apache.flink.cdc.connectors.postgres.source.offset.PostgresOffset;
import org.apache.flink.cdc.connectors.postgres.source.reader.PostgresSourceReader;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.source.reader.synchronization.FutureCompletingBlockingQueue;
import org.apache.flink.core.io.InputStatus;

/** The connector's reader, held at each {@link Boundary}. */
@SuppressWarnings({"rawtypes", "unchecked", "try"}) // the connector's reader is raw, and closing may be interrupted
final class BoundaryReader extends PostgresSourceReader {
    private final BoundaryEmitter emitter;
    private final Boundary boundary;
    private final Captured captured;
    private final DatabaseConnections database;

    BoundaryReader(
            Supplier<IncrementalSourceSplitReader<JdbcSourceConfig>> splitReaders,
            BoundaryEmitter emitter,
            Configuration configuration,
            IncrementalSourceReaderContext context,
            JdbcSourceConfig sourceConfig,
            SourceSplitSerializer splitSerializer,
            DataSourceDialect<JdbcSourceConfig> dialect,
            Captured captured,
            Boundary boundary,
            DatabaseConnections database) {
        super(
                new FutureCompletingBlockingQueue(),
                splitReaders,
                emitter,
                configuration,
                context,
                sourceConfig,
                splitSerializer,
                dialect);
        this.emitter = emitter;
        this.captured = captured;
        this.boundary = boundary;
        this.database = database;
    }

    @Override
    public void addSplits(List splits) {
        List<SourceSplitBase> named = new ArrayList<>();
        for (SourceSplitBase split : (List<SourceSplitBase>) splits) {
            named.add(split.isStreamSplit() ? log(split.asStreamSplit()) : split);
        }
        super.addSplits(named);
    }

    private StreamSplit log(StreamSplit split) {
        StreamSplit named = withNames(split);
        if (named.isSuspended() || !named.isCompletedSplit()) {
            return named;
        }
        logStarts();
        StreamSplit starting = CommitPosition.is(named.getStartingOffset())
                ? named
                : startingAt(named, dialect().displayCommittedOffset(config()));
        requireSlot(((PostgresOffset) starting.getStartingOffset()).getLsn().asLong());
        return starting;
    }

    /** The connector makes a slot that is missing, and takes what another one gives, as if nothing had happened. */
    private void requireSlot(long lsn) {
        try (Connection connection = database.open("change source")) {
            Slots.require(connection, dialect().getSlotName(), lsn);
        } catch (SQLException e) {
            throw new IllegalStateException(
                    "replication slot cannot be looked at: slot=" + dialect().getSlotName(), e);
        }
    }

    private void logStarts() {
        emitter.logStarts(dialect().displayCurrentOffset(config()));
    }

    /** A log that was suspended may go on without being given to {@link #addSplits} again. */
    @Override
    protected void updateStreamSplitFinishedSplitsSize(LatestFinishedSplitsNumberEvent event) {
        logStarts();
        super.updateStreamSplitFinishedSplitsSize(event);
    }

    private PostgresDialect dialect() {
        return (PostgresDialect) dialect;
    }

    private JdbcSourceConfig config() {
        return (JdbcSourceConfig) sourceConfig;
    }

    /**
     * Where the log starts at a chunk's position, for the first time or wound back for another table, it starts where the slot stands,
     * which stays there while chunks are read. The chunk's position would be too late: a transaction may have written its commit before
     * that and have become visible only after the chunk was read.
     */
    private static StreamSplit startingAt(StreamSplit split, Offset position) {
        return new StreamSplit(
                split.splitId(),
                position.isBefore(split.getStartingOffset()) ? position : split.getStartingOffset(),
                split.getEndingOffset(),
                split.getFinishedSnapshotSplitInfos(),
                split.getTableSchemas(),
                split.getTotalFinishedSplitSize(),
                split.isSuspended(),
                split.isSnapshotCompleted());
    }

    /** Chunks come with their table's name written without quotes; one with a dot in it is read wrongly. */
    private StreamSplit withNames(StreamSplit split) {
        List<FinishedSnapshotSplitInfo> chunks = new ArrayList<>();
        for (FinishedSnapshotSplitInfo chunk : split.getFinishedSnapshotSplitInfos()) {
            TableId name = captured.tableId(chunk.getTableId().toString());
            chunks.add(
                    name == null
                            ? chunk
                            : new FinishedSnapshotSplitInfo(
                                    name,
                                    chunk.getSplitId(),
                                    chunk.getSplitStart(),
                                    chunk.getSplitEnd(),
                                    chunk.getHighWatermark(),
                                    chunk.getOffsetFactory()));
        }
        return new StreamSplit(
                split.splitId(),
                split.getStartingOffset(),
                split.getEndingOffset(),
                chunks,
                split.getTableSchemas(),
                split.getTotalFinishedSplitSize(),
                split.isSuspended(),
                split.isSnapshotCompleted());
    }

    @Override
    public InputStatus pollNext(ReaderOutput output) throws Exception {
        if (boundary.held()) {
            return InputStatus.NOTHING_AVAILABLE;
        }
        InputStatus status = super.pollNext(output);
        return boundary.held() ? InputStatus.NOTHING_AVAILABLE : status;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        return boundary.held() ? boundary.passed() : super.isAvailable();
    }

    @Override
    public List<SourceSplitBase> snapshotState(long checkpointId) {
        boundary.checkpointTaken(checkpointId);
        return super.snapshotState(checkpointId);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
        super.notifyCheckpointComplete(checkpointId);
        boundary.checkpointComplete(checkpointId);
    }
}
