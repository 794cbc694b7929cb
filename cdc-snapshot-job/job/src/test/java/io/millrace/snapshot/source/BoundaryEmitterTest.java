package io.millrace.snapshot.source;

import static io.millrace.snapshot.source.TestingRecords.heartbeat;
import static io.millrace.snapshot.source.TestingRecords.insert;
import static org.assertj.core.api.Assertions.assertThat;

import io.debezium.relational.TableId;
import io.millrace.snapshot.Change;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.cdc.connectors.base.source.meta.offset.Offset;
import org.apache.flink.cdc.connectors.base.source.meta.split.FinishedSnapshotSplitInfo;
import org.apache.flink.cdc.connectors.base.source.meta.split.SourceRecords;
import org.apache.flink.cdc.connectors.base.source.meta.split.StreamSplit;
import org.apache.flink.cdc.connectors.base.source.meta.split.StreamSplitState;
import org.apache.flink.cdc.connectors.base.source.metrics.SourceReaderMetrics;
import org.apache.flink.cdc.connectors.postgres.source.offset.PostgresOffset;
import org.apache.flink.cdc.connectors.postgres.source.offset.PostgresOffsetFactory;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.source.SourceRecord;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.junit.jupiter.api.Test;

class BoundaryEmitterTest {
    private static final PostgresOffsetFactory OFFSETS = new PostgresOffsetFactory();

    private final Captured captured = new Captured(List.of(TestingRecords.ROUTE));
    private final Boundary boundary = new Boundary();
    private final BoundaryEmitter emitter = new BoundaryEmitter(
            new ChangeDeserializer(captured),
            new SourceReaderMetrics(UnregisteredMetricsGroup.createSourceReaderMetricGroup()),
            OFFSETS,
            captured,
            boundary);
    private final StreamSplitState log = new StreamSplitState(new StreamSplit(
            StreamSplit.STREAM_SPLIT_ID,
            at(100),
            PostgresOffset.NO_STOPPING_OFFSET,
            List.of(new FinishedSnapshotSplitInfo(
                    new TableId(null, "public", "t"), "public.t:0", null, null, at(90), OFFSETS)),
            new HashMap<>(),
            1));
    private final Output output = new Output();

    private static Offset at(long lsn) {
        return PostgresOffset.of(Map.of("lsn", lsn, "ts_usec", 0L));
    }

    private void emit(SourceRecord... records) throws Exception {
        emitter.emitRecord(new SourceRecords(List.of(records)), output, log);
    }

    @Test
    void theStateIsTheEndOfTheLastCommitWhereverItIsTaken() throws Exception {
        Offset chunk = PostgresOffset.of(Map.of("lsn", 100L, "txId", 7L, "ts_usec", Long.MIN_VALUE));
        log.setStartingOffset(chunk);
        emitter.logStarts(at(1_000));
        // No commit has been read yet: the log goes on where it started.
        emit(insert(120, null, 1));
        assertThat(log.getStartingOffset()).isEqualTo(chunk);
        assertThat(CommitPosition.is(chunk)).isFalse();
        emit(heartbeat(130, 130L, 130L));
        assertThat(log.getStartingOffset()).isEqualTo(at(130));
        // One page with three rows, cut after the second; the page stands where the commit ended.
        emit(insert(130, 130L, 2), insert(130, 130L, 3));
        assertThat(log.getStartingOffset()).isEqualTo(at(130));
        emit(insert(130, 130L, 4), heartbeat(170, 170L, 170L));
        assertThat(log.getStartingOffset()).isEqualTo(at(170));
        assertThat(CommitPosition.is(at(170))).isTrue();
        assertThat(output.changes).hasSize(4);
    }

    @Test
    void aTableHasCaughtUpBetweenTwoTransactionsOnly() throws Exception {
        emitter.logStarts(at(200));
        emit(heartbeat(150, 150L, 150L));
        // A transaction behind the moment that counts, of which the first rows are there.
        emit(insert(250, 210L, 1), heartbeat(250, 250L, 210L));
        // The next one, which begins where that one ended.
        emit(insert(300, 300L, 2), heartbeat(300, 300L, 300L));
        assertThat(output.changes).allMatch(change -> change.kind() == Change.Kind.ROW);
        assertThat(boundary.held()).isFalse();

        emit(heartbeat(340, 340L, 340L));
        assertThat(output.changes).endsWith(Change.caughtUp("public.t", 340));
        assertThat(boundary.held()).isTrue();
    }

    @Test
    void aLogThatStartsAgainRepeatsUntilItHasPassedThatMoment() throws Exception {
        emitter.logStarts(at(110));
        emit(heartbeat(130, 130L, 130L), insert(140, 130L, 1));
        emitter.logStarts(at(160));
        emit(heartbeat(130, 130L, 130L), insert(140, 130L, 1), heartbeat(170, 170L, 170L), insert(180, 170L, 2));
        assertThat(output.changes)
                .filteredOn(change -> change.kind() == Change.Kind.ROW)
                .extracting(change -> change.before() != null)
                .containsExactly(false, true, false);
    }

    private static final class Output implements SourceOutput<Change> {
        private final List<Change> changes = new ArrayList<>();

        @Override
        public void collect(Change change) {
            changes.add(change);
        }

        @Override
        public void collect(Change change, long timestamp) {
            changes.add(change);
        }

        @Override
        public void emitWatermark(Watermark watermark) {
            // Changes have no event time.
        }

        @Override
        public void markIdle() {
            // Changes have no event time.
        }

        @Override
        public void markActive() {
            // Changes have no event time.
        }
    }
}
