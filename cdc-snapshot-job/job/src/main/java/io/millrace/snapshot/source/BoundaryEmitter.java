package io.millrace.snapshot.source;

import io.millrace.snapshot.Change;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
 * An initial load is read in chunks, each as the table was at the chunk's own moment (its high watermark), and the log starts at
 * the earliest of them. Until the log has passed the latest, the emitted rows are a mix of moments: true in the end, but not the
 * table at any one position. So a table is announced as caught up only when the log's position has passed its last chunk. The
 * position is looked at on heartbeats alone, because these come between transactions.
 */
/** Emits changes, announces tables that have caught up with the log, and sets the {@link Boundary} behind what must be last. */
final class BoundaryEmitter extends IncrementalSourceRecordEmitter<Change> {
    private final ChangeDeserializer changes;
    private final Captured captured;
    private final Boundary boundary;
    private final Set<String> announced = new HashSet<>();
    private @Nullable StreamSplitState known;
    private Map<String, Offset> lastChunks = new HashMap<>();

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
        super.processElement(element, output, split);
        if (!split.isStreamSplitState()) {
            return;
        }
        if (SourceRecordUtils.isHeartbeatEvent(element)) {
            announce(split.asStreamSplitState(), output);
        } else if (captured.isRequest(element)) {
            boundary.reached();
        }
    }

    private void announce(StreamSplitState split, SourceOutput<Change> output) {
        if (split != known) {
            known = split;
            lastChunks = lastChunks(split);
        }
        Offset position = split.getStartingOffset();
        if (lastChunks.isEmpty() || position == null) {
            return;
        }
        Iterator<Map.Entry<String, Offset>> waiting = lastChunks.entrySet().iterator();
        while (waiting.hasNext()) {
            Map.Entry<String, Offset> table = waiting.next();
            if (position.isAtOrAfter(table.getValue())) {
                long lsn = ((PostgresOffset) position).getLsn().asLong();
                output.collect(Change.caughtUp(table.getKey(), lsn));
                announced.add(table.getKey());
                waiting.remove();
                boundary.reached();
            }
        }
    }

    private Map<String, Offset> lastChunks(StreamSplitState split) {
        Map<String, Offset> last = new HashMap<>();
        for (FinishedSnapshotSplitInfo chunk : split.toSourceSplit().getFinishedSnapshotSplitInfos()) {
            String relation = captured.relation(
                    chunk.getTableId().schema(), chunk.getTableId().table());
            if (relation != null && !announced.contains(relation)) {
                last.merge(relation, chunk.getHighWatermark(), (a, b) -> a.isAfter(b) ? a : b);
            }
        }
        return last;
    }
}
