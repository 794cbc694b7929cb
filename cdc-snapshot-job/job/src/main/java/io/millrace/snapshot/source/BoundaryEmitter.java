package io.millrace.snapshot.source;

import io.millrace.snapshot.Change;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.cdc.connectors.base.source.meta.offset.Offset;
import org.apache.flink.cdc.connectors.base.source.meta.offset.OffsetFactory;
import org.apache.flink.cdc.connectors.base.source.meta.split.FinishedSnapshotSplitInfo;
import org.apache.flink.cdc.connectors.base.source.meta.split.SourceRecords;
import org.apache.flink.cdc.connectors.base.source.meta.split.SourceSplitState;
import org.apache.flink.cdc.connectors.base.source.meta.split.StreamSplitState;
import org.apache.flink.cdc.connectors.base.source.meta.wartermark.WatermarkEvent;
import org.apache.flink.cdc.connectors.base.source.metrics.SourceReaderMetrics;
import org.apache.flink.cdc.connectors.base.source.reader.IncrementalSourceRecordEmitter;
import org.apache.flink.cdc.connectors.base.utils.SourceRecordUtils;
import org.apache.flink.cdc.connectors.postgres.source.offset.PostgresOffset;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;

/*
 * An initial load is read in chunks, each as the table was at its own moment, while changes go on. The log is read from before the
 * first chunk, so it repeats changes that some chunks hold already: until it has passed the moment at which it was started, when all
 * chunks had been read, an emitted table is true in the end but not at any one position. The same holds when the log is wound back
 * because another table was added, or starts again after a failure. Until then the rows of a table are replaced rather than inserted,
 * and only then is the table announced as caught up: at a heartbeat between two transactions, since what is announced is followed by
 * a cut.
 */
/** Emits changes, announces tables that have caught up with the log, and sets the {@link Boundary} behind what must be last. */
final class BoundaryEmitter extends IncrementalSourceRecordEmitter<Change> {
    private final ChangeDeserializer changes;
    private final Captured captured;
    private final Boundary boundary;
    private final CommitPosition commits = new CommitPosition();
    private final Set<String> announced = new HashSet<>();
    private @Nullable Offset repeatedUntil;

    BoundaryEmitter(
            ChangeDeserializer changes,
            SourceReaderMetrics metrics,
            OffsetFactory offsets,
            Captured captured,
            Boundary boundary) {
        super(changes, metrics, false, offsets);
        this.changes = changes;
        this.captured = captured;
        this.boundary = boundary;
    }

    /** The log starts, perhaps again; what it brings up to {@code now} may have been emitted before. */
    void logStarts(Offset now) {
        repeatedUntil = now;
        commits.logStarts();
        changes.repeating(true);
    }

    @Override
    public void emitRecord(SourceRecords records, SourceOutput<Change> output, SourceSplitState split)
            throws Exception {
        List<SourceRecord> list = records.getSourceRecordList();
        if (split.isSnapshotSplitState() && !list.isEmpty()) {
            SourceRecord last = list.get(list.size() - 1);
            if (WatermarkEvent.isHighWatermarkEvent(last)) {
                changes.chunkAt(
                        ((PostgresOffset) getOffsetPosition(last)).getLsn().asLong());
            }
        }
        super.emitRecord(records, output, split);
    }

    @Override
    protected void processElement(SourceRecord element, SourceOutput<Change> output, SourceSplitState split)
            throws Exception {
        if (!split.isStreamSplitState()) {
            super.processElement(element, output, split);
            return;
        }
        StreamSplitState log = split.asStreamSplitState();
        Offset before = log.getStartingOffset();
        super.processElement(element, output, split);
        log.setStartingOffset(CommitPosition.after(element, before));
        if (!SourceRecordUtils.isHeartbeatEvent(element)) {
            commits.row(element);
        } else if (commits.isBetweenTransactions(element)) {
            announce(log, output);
        }
        if (captured.isRequest(element)) {
            boundary.reached();
        }
    }

    private void announce(StreamSplitState split, SourceOutput<Change> output) {
        Offset position = split.getStartingOffset();
        if (repeatedUntil == null || position == null || !position.isAtOrAfter(repeatedUntil)) {
            return;
        }
        repeatedUntil = null;
        changes.repeating(false);
        long lsn = ((PostgresOffset) position).getLsn().asLong();
        for (String relation : loaded(split)) {
            if (announced.add(relation)) {
                output.collect(Change.caughtUp(relation, lsn));
                boundary.reached();
            }
        }
    }

    private Set<String> loaded(StreamSplitState split) {
        Set<String> relations = new TreeSet<>();
        for (FinishedSnapshotSplitInfo chunk : split.toSourceSplit().getFinishedSnapshotSplitInfos()) {
            String relation = captured.relation(
                    chunk.getTableId().schema(), chunk.getTableId().table());
            if (relation != null) {
                relations.add(relation);
            }
        }
        return relations;
    }
}
