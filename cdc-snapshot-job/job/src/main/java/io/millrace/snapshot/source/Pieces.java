package io.millrace.snapshot.source;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.apache.flink.cdc.connectors.base.source.meta.split.SourceRecords;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.jspecify.annotations.Nullable;

/** The records of one fetch in pieces. The reader emits one piece per call, so a checkpoint can fall between two but never inside one. */
final class Pieces implements RecordsWithSplitIds<SourceRecords> {
    private record OfSplit(String split, Deque<SourceRecords> pieces) {}

    private final Deque<OfSplit> splits = new ArrayDeque<>();
    private final Set<String> finished;
    private Deque<SourceRecords> current = new ArrayDeque<>();

    Pieces(Set<String> finished) {
        this.finished = finished;
    }

    void add(String split, List<SourceRecords> pieces) {
        splits.add(new OfSplit(split, new ArrayDeque<>(pieces)));
    }

    @Override
    public @Nullable String nextSplit() {
        OfSplit next = splits.poll();
        current = next == null ? new ArrayDeque<>() : next.pieces();
        return next == null ? null : next.split();
    }

    @Override
    public @Nullable SourceRecords nextRecordFromSplit() {
        return current.poll();
    }

    @Override
    public Set<String> finishedSplits() {
        return finished;
    }
}
