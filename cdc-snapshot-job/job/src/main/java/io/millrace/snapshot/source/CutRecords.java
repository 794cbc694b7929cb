package io.millrace.snapshot.source;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.flink.cdc.connectors.base.source.meta.split.SourceRecords;
import org.apache.flink.cdc.connectors.base.source.meta.split.StreamSplit;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.source.SourceRecord;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.jspecify.annotations.Nullable;

/**
 * A fetch of the log, cut behind every record that may have to be the last one before a checkpoint. The reader emits one piece
 * per call, so a checkpoint can fall between two pieces but never inside one. The rows of an initial load stay in one piece:
 * a chunk is either wholly in a checkpoint or read again.
 */
final class CutRecords implements RecordsWithSplitIds<SourceRecords> {
    private final RecordsWithSplitIds<SourceRecords> whole;
    private final Predicate<SourceRecord> cutBehind;
    private final Deque<SourceRecords> pieces = new ArrayDeque<>();
    private boolean log;

    CutRecords(RecordsWithSplitIds<SourceRecords> whole, Predicate<SourceRecord> cutBehind) {
        this.whole = whole;
        this.cutBehind = cutBehind;
    }

    @Override
    public @Nullable String nextSplit() {
        String split = whole.nextSplit();
        log = StreamSplit.STREAM_SPLIT_ID.equals(split);
        return split;
    }

    @Override
    public @Nullable SourceRecords nextRecordFromSplit() {
        if (!pieces.isEmpty()) {
            return pieces.pop();
        }
        SourceRecords next = whole.nextRecordFromSplit();
        if (next == null || !log) {
            return next;
        }
        cut(next.getSourceRecordList());
        return pieces.isEmpty() ? next : pieces.pop();
    }

    private void cut(List<SourceRecord> records) {
        List<SourceRecord> piece = new ArrayList<>();
        for (SourceRecord record : records) {
            piece.add(record);
            if (cutBehind.test(record)) {
                pieces.add(new SourceRecords(piece));
                piece = new ArrayList<>();
            }
        }
        if (!piece.isEmpty()) {
            pieces.add(new SourceRecords(piece));
        }
    }

    @Override
    public Set<String> finishedSplits() {
        return whole.finishedSplits();
    }

    @Override
    public void recycle() {
        whole.recycle();
    }
}
