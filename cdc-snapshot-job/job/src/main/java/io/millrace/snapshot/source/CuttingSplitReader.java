package io.millrace.snapshot.source;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.apache.flink.cdc.connectors.base.config.JdbcSourceConfig;
import org.apache.flink.cdc.connectors.base.dialect.DataSourceDialect;
import org.apache.flink.cdc.connectors.base.source.meta.split.SourceRecords;
import org.apache.flink.cdc.connectors.base.source.meta.split.StreamSplit;
import org.apache.flink.cdc.connectors.base.source.meta.wartermark.WatermarkEvent;
import org.apache.flink.cdc.connectors.base.source.reader.IncrementalSourceReaderContext;
import org.apache.flink.cdc.connectors.base.source.reader.IncrementalSourceSplitReader;
import org.apache.flink.cdc.connectors.base.source.utils.hooks.SnapshotPhaseHooks;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.source.SourceRecord;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;

/**
 * The connector's split reader, its fetches cut where the reader must be able to stop, and the rows of a chunk put together: a chunk
 * is emitted in one piece, so it is in a checkpoint wholly or not at all.
 */
@SuppressWarnings("try") // closing may be interrupted; the fetcher copes with it
final class CuttingSplitReader extends IncrementalSourceSplitReader<JdbcSourceConfig> {
    private final Predicate<SourceRecord> cutBehind;
    private List<SourceRecord> chunk = new ArrayList<>();

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
        RecordsWithSplitIds<SourceRecords> fetched = super.fetch();
        Pieces pieces = new Pieces(fetched.finishedSplits());
        for (String split = fetched.nextSplit(); split != null; split = fetched.nextSplit()) {
            boolean log = StreamSplit.STREAM_SPLIT_ID.equals(split);
            List<SourceRecords> ofSplit = new ArrayList<>();
            for (SourceRecords records = fetched.nextRecordFromSplit();
                    records != null;
                    records = fetched.nextRecordFromSplit()) {
                if (log) {
                    cut(records.getSourceRecordList(), ofSplit);
                } else {
                    collect(records.getSourceRecordList(), ofSplit);
                }
            }
            pieces.add(split, ofSplit);
        }
        fetched.recycle();
        return pieces;
    }

    private void cut(List<SourceRecord> records, List<SourceRecords> pieces) {
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

    private void collect(List<SourceRecord> records, List<SourceRecords> pieces) {
        for (SourceRecord record : records) {
            if (WatermarkEvent.isLowWatermarkEvent(record)) {
                chunk = new ArrayList<>();
            }
            chunk.add(record);
            if (WatermarkEvent.isHighWatermarkEvent(record)) {
                pieces.add(new SourceRecords(chunk));
                chunk = new ArrayList<>();
            }
        }
    }
}
