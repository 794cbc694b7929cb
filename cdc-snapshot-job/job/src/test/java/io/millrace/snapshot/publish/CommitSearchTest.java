package io.millrace.snapshot.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.snapshot.publish.CommitSearch.Answer;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.AppendFiles;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.hadoop.HadoopTables;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommitSearchTest {
    private static final String OLD = "00000000000000000000000000000001";
    private static final String NEW = "00000000000000000000000000000002";

    private final CommitSearch search = new CommitSearch(List.of(OLD, NEW));
    private Table table;

    @BeforeEach
    void createTable(@TempDir Path directory) {
        Schema schema = new Schema(Types.NestedField.required(1, "id", Types.LongType.get()));
        table = new HadoopTables(new Configuration())
                .create(schema, directory.resolve("t").toString());
    }

    private long commit(String jobId, long checkpointId) {
        AppendFiles append = table.newFastAppend();
        append.set("flink.job-id", jobId).set("flink.max-committed-checkpoint-id", Long.toString(checkpointId));
        append.commit();
        return table.currentSnapshot().snapshotId();
    }

    private long commitOfSomebodyElse() {
        table.newFastAppend().commit();
        return table.currentSnapshot().snapshotId();
    }

    private Answer find(CommitMark taken, CommitMark awaited) {
        return find(taken, awaited, false);
    }

    private Answer find(CommitMark taken, CommitMark awaited, boolean overdue) {
        return search.find(table, new PublishRequest(1, "public.t", 10, taken, awaited), overdue);
    }

    private Answer findWithNothingAwaited(CommitMark taken) {
        return search.find(table, new PublishRequest(1, "public.t", 10, taken, null), false);
    }

    @Test
    void waitsForTheAwaitedCommitAndLeavesLaterOnesOut() {
        commitOfSomebodyElse();
        commit(OLD, 3);
        CommitMark taken = new CommitMark(OLD, 5);
        assertThat(find(taken, new CommitMark(OLD, 5))).isEqualTo(new Answer.NotCommitted());
        long awaited = commit(OLD, 5);
        assertThat(find(taken, new CommitMark(OLD, 5))).isEqualTo(new Answer.Found(awaited));
        commit(OLD, 6);
        commit(NEW, 8);
        assertThat(find(taken, new CommitMark(OLD, 5))).isEqualTo(new Answer.Found(awaited));
    }

    @Test
    void takesTheCommitOfALaterCheckpointForOneThatWasGivenUp() {
        commit(OLD, 4);
        CommitMark awaited = new CommitMark(OLD, 5);
        long sixth = commit(OLD, 6);
        assertThat(find(new CommitMark(OLD, 6), awaited)).isEqualTo(new Answer.Found(sixth));
        assertThat(find(new CommitMark(NEW, 7), awaited)).isEqualTo(new Answer.Found(sixth));
        assertThat(find(new CommitMark(OLD, 5), awaited)).isEqualTo(new Answer.NotCommitted());
        commit(OLD, 7);
        assertThat(find(new CommitMark(NEW, 8), awaited)).isEqualTo(new Answer.Found(sixth));
    }

    @Test
    void takesACompactionOfTheAwaitedStateButNoneOfALaterOne() {
        long awaited = commit(OLD, 5);
        CommitMark mark = new CommitMark(OLD, 5);
        long compacted = commitOfSomebodyElse();
        assertThat(find(mark, mark)).isEqualTo(new Answer.Found(compacted));
        commit(OLD, 6);
        commitOfSomebodyElse();
        assertThat(find(mark, mark)).isEqualTo(new Answer.Found(compacted));
        assertThat(compacted).isNotEqualTo(awaited);
    }

    @Test
    void takesTheNewestWhenNothingIsAwaitedExceptLaterRunsAndCheckpoints() {
        long first = commitOfSomebodyElse();
        assertThat(findWithNothingAwaited(new CommitMark(OLD, 5))).isEqualTo(new Answer.Found(first));
        long earlier = commit(OLD, 4);
        commit(OLD, 6);
        commit(NEW, 7);
        assertThat(findWithNothingAwaited(new CommitMark(OLD, 5))).isEqualTo(new Answer.Found(earlier));
        assertThat(findWithNothingAwaited(new CommitMark(NEW, 9)))
                .isEqualTo(new Answer.Found(table.currentSnapshot().snapshotId()));
    }

    @Test
    void saysThatTheStateIsGone() {
        commit(NEW, 7);
        assertThat(findWithNothingAwaited(new CommitMark(OLD, 5))).isEqualTo(new Answer.Gone());
    }

    @Test
    void aCommitThatShouldBeThereLongSinceIsGone() {
        commit(OLD, 4);
        CommitMark mark = new CommitMark(OLD, 5);
        assertThat(find(mark, mark, false)).isEqualTo(new Answer.NotCommitted());
        assertThat(find(mark, mark, true)).isEqualTo(new Answer.Gone());
    }
}
