package io.millrace.snapshot.source;

import static io.millrace.snapshot.source.TestingRecords.change;
import static io.millrace.snapshot.source.TestingRecords.row;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.snapshot.Change;
import java.util.List;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.junit.jupiter.api.Test;

class ChangeDeserializerTest {
    private static final long LSN = 700;

    private final ChangeDeserializer changes = new ChangeDeserializer(new Captured(List.of(TestingRecords.ROUTE)));
    private final TestingRecords.Collected out = new TestingRecords.Collected();

    private static GenericRowData lakeRow(long id, String a) {
        return GenericRowData.of(id, StringData.fromString(a), LSN);
    }

    @Test
    void anUpdatedRowReplacesItsOldState() {
        changes.deserialize(change("u", LSN, 600L, row(1, "old"), row(1, "new")), out);
        changes.deserialize(change("u", LSN, 600L, null, row(2, "new")), out);
        assertThat(out.changes)
                .containsExactly(
                        Change.row("public.t", LSN, lakeRow(1, "old"), lakeRow(1, "new")),
                        Change.row("public.t", LSN, lakeRow(2, "new"), lakeRow(2, "new")));
    }

    @Test
    void anInsertedRowReplacesOnlyWhileTheLogRepeats() {
        changes.repeating(true);
        changes.deserialize(change("c", LSN, 600L, null, row(1, "a")), out);
        changes.repeating(false);
        changes.deserialize(change("c", LSN, 600L, null, row(2, "a")), out);
        assertThat(out.changes)
                .containsExactly(
                        Change.row("public.t", LSN, lakeRow(1, "a"), lakeRow(1, "a")),
                        Change.row("public.t", LSN, null, lakeRow(2, "a")));
    }

    @Test
    void aRowThatMovedToAnotherKeyReplacesWhatIsThereWhileTheLogRepeats() {
        changes.deserialize(change("u", LSN, 600L, row(1, "a"), row(2, "a")), out);
        changes.repeating(true);
        changes.deserialize(change("u", LSN, 600L, row(1, "a"), row(2, "a")), out);
        assertThat(out.changes)
                .containsExactly(
                        Change.row("public.t", LSN, lakeRow(1, "a"), lakeRow(2, "a")),
                        Change.row("public.t", LSN, lakeRow(1, "a"), null),
                        Change.row("public.t", LSN, lakeRow(2, "a"), lakeRow(2, "a")));
    }

    @Test
    void aValueThatTheLogLeavesOutMakesTheTableStale() {
        changes.deserialize(change("u", LSN, 600L, null, row(1, RowConverter.UNCHANGED)), out);
        changes.deserialize(change("u", LSN, 600L, row(1, "old"), row(1, "new")), out);
        assertThat(out.changes).containsExactly(Change.stale("public.t", LSN));
    }
}
