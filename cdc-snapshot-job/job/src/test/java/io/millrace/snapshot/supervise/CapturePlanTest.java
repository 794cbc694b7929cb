package io.millrace.snapshot.supervise;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.lake.CapturedTable;
import io.millrace.lake.SourceColumn;
import io.millrace.snapshot.CapturedTables;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CapturePlanTest {

    private static CapturedTables.Row row(String relation, String status, boolean present) {
        List<SourceColumn> columns = List.of(new SourceColumn("id", "bigint", false, false));
        return new CapturedTables.Row(
                new CapturedTable(relation, "public", relation, List.of("id"), columns), status, present, false);
    }

    @Test
    void startsWithEveryTableThatIsWanted() {
        assertThat(CapturePlan.of(
                        List.of(row("a", "requested", true), row("b", "failed", true), row("c", "dropping", true)),
                        List.of(),
                        Set.of()))
                .isEqualTo(new CapturePlan(List.of("a"), true, false));
    }

    @Test
    void aNewTableWaitsForTheLoadThatIsGoingOn() {
        List<CapturedTables.Row> rows = List.of(row("a", "loading", true), row("b", "requested", true));
        assertThat(CapturePlan.of(rows, List.of("a"), Set.of())).isEqualTo(new CapturePlan(List.of("a"), false, false));
        rows = List.of(row("a", "streaming", true), row("b", "requested", true));
        assertThat(CapturePlan.of(rows, List.of("a"), Set.of("a")))
                .isEqualTo(new CapturePlan(List.of("a", "b"), true, false));
    }

    @Test
    void aTableAskedForAgainLeavesFirst() {
        List<CapturedTables.Row> rows = List.of(row("a", "streaming", true), row("b", "requested", true));
        assertThat(CapturePlan.of(rows, List.of("a", "b"), Set.of("a", "b")))
                .isEqualTo(new CapturePlan(List.of("a"), true, false));
        assertThat(CapturePlan.of(rows, List.of("a"), Set.of("a")))
                .isEqualTo(new CapturePlan(List.of("a", "b"), true, false));
    }

    @Test
    void aTableLostInMidLoadMakesEverythingStartAgain() {
        List<CapturedTables.Row> rows = List.of(row("a", "streaming", true), row("b", "failed", false));
        assertThat(CapturePlan.of(rows, List.of("a", "b"), Set.of("a")))
                .isEqualTo(new CapturePlan(List.of("a"), true, true));
        assertThat(CapturePlan.of(rows, List.of("a", "b"), Set.of("a", "b")))
                .isEqualTo(new CapturePlan(List.of("a"), true, false));
    }

    @Test
    void nothingCapturedMeansNothingRuns() {
        assertThat(CapturePlan.of(List.of(row("a", "dropping", true)), List.of("a"), Set.of("a")))
                .isEqualTo(new CapturePlan(List.of(), true, false));
        assertThat(CapturePlan.of(List.of(), List.of(), Set.of())).isEqualTo(new CapturePlan(List.of(), false, false));
    }

    @Test
    void theStateFileComesBackAsItWas(@TempDir Path directory) {
        assertThat(SupervisorState.read(directory)).isEqualTo(SupervisorState.NONE);
        SupervisorState state = new SupervisorState(
                "abc", List.of("public.\"odd, one\"", "public.b"), Set.of("public.b"), "file:/x/chk-1", List.of("old"));
        state.write(directory);
        assertThat(SupervisorState.read(directory)).isEqualTo(state);
        SupervisorState.NONE.write(directory);
        assertThat(SupervisorState.read(directory)).isEqualTo(SupervisorState.NONE);
    }
}
