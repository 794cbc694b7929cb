package io.millrace.snapshot.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LedgerTest {
    private static final String JOB = "0123456789abcdef0123456789abcdef";
    private final Ledger ledger = new Ledger();

    private static CommitMark at(long checkpointId) {
        return new CommitMark(JOB, checkpointId);
    }

    @Test
    void aRequestIsDueWithItsCheckpointAndAwaitsTheTablesLastCommit() {
        ledger.caughtUp("public.t", 1);
        ledger.rowChanged("public.t");
        ledger.checkpointTaken(at(1));
        ledger.requested("public.t", 50, 7);
        ledger.checkpointTaken(at(2));
        assertThat(ledger.checkpointComplete(1)).isEmpty();
        assertThat(ledger.checkpointComplete(2)).containsExactly(new PublishRequest(7, "public.t", 50, at(2), at(1)));
        ledger.finished(7);
        assertThat(ledger.checkpointComplete(3)).isEmpty();
    }

    @Test
    void nothingIsAwaitedOnceTwoLaterCheckpointsAreComplete() {
        ledger.caughtUp("public.t", 1);
        ledger.rowChanged("public.t");
        ledger.checkpointTaken(at(1));
        ledger.checkpointComplete(2);
        ledger.checkpointComplete(3);
        ledger.requested("public.t", 50, 7);
        ledger.checkpointTaken(at(4));
        assertThat(ledger.checkpointComplete(4)).containsExactly(new PublishRequest(7, "public.t", 50, at(4), null));
    }

    @Test
    void aRequestWhoseCheckpointWasGivenUpIsCompleteByTheNext() {
        ledger.caughtUp("public.t", 1);
        ledger.checkpointComplete(7);
        ledger.rowChanged("public.t");
        ledger.requested("public.t", 50, 7);
        ledger.checkpointTaken(at(8));
        ledger.checkpointTaken(at(9));
        PublishRequest request = new PublishRequest(7, "public.t", 50, at(9), at(8));
        assertThat(Ledger.parse(ledger.toJson()).restoredFrom(9)).containsExactly(request);
        assertThat(ledger.checkpointComplete(9)).containsExactly(request);
        ledger.checkpointTaken(at(10));
        assertThat(Ledger.parse(ledger.toJson()).restoredFrom(10)).containsExactly(request);
        assertThat(ledger.checkpointComplete(10)).containsExactly(request);
    }

    @Test
    void aCheckpointThatCompletesBesideALaterOneStillLimitsItsRequest() {
        ledger.caughtUp("public.t", 1);
        ledger.rowChanged("public.t");
        ledger.requested("public.t", 50, 7);
        ledger.checkpointTaken(at(8));
        ledger.checkpointTaken(at(9)); // a savepoint, which nobody tells of
        PublishRequest request = new PublishRequest(7, "public.t", 50, at(8), at(8));
        assertThat(ledger.checkpointComplete(8)).containsExactly(request);
        ledger.rowChanged("public.t");
        ledger.checkpointTaken(at(10));
        assertThat(ledger.checkpointComplete(10)).containsExactly(request);
    }

    @Test
    void theCommitOfACheckpointThatWasGivenUpIsAwaitedWithTheNext() {
        ledger.caughtUp("public.t", 1);
        ledger.rowChanged("public.t");
        ledger.checkpointTaken(at(7));
        // Checkpoint 7 never completes: its files are committed when 8 does, at the same time as this hears of it.
        ledger.checkpointComplete(8);
        ledger.requested("public.t", 50, 7);
        ledger.checkpointTaken(at(9));
        assertThat(ledger.checkpointComplete(9)).containsExactly(new PublishRequest(7, "public.t", 50, at(9), at(7)));
    }

    @Test
    void aRequestWaitsForItsTableAndIsAnsweredWithThatPosition() {
        ledger.requested("public.t", 50, 7);
        ledger.checkpointTaken(at(1));
        assertThat(ledger.checkpointComplete(1)).isEmpty();
        ledger.caughtUp("public.t", 80);
        ledger.checkpointTaken(at(2));
        assertThat(ledger.checkpointComplete(2)).containsExactly(new PublishRequest(7, "public.t", 80, at(2), null));
    }

    @Test
    void aStaleTableIsNotAnsweredUntilItWasLoadedAgain() {
        ledger.caughtUp("public.t", 1);
        ledger.stale("public.t");
        ledger.caughtUp("public.t", 2);
        ledger.requested("public.t", 50, 7);
        ledger.checkpointTaken(at(1));
        assertThat(ledger.checkpointComplete(1)).isEmpty();
        ledger.keepTables(Set.of());
        ledger.caughtUp("public.t", 90);
        ledger.checkpointTaken(at(2));
        assertThat(ledger.checkpointComplete(2)).hasSize(1);
    }

    @Test
    void everythingSurvivesACrash() {
        ledger.begin("ffff");
        ledger.begin(JOB);
        ledger.caughtUp("public.t", 1);
        ledger.stale("odd \"one\"");
        ledger.rowChanged("public.t");
        ledger.requested("public.t", 50, 7);
        ledger.requested("public.other", 60, 8);
        ledger.checkpointTaken(at(4));
        Ledger again = Ledger.parse(ledger.toJson());
        assertThat(again.toJson()).isEqualTo(ledger.toJson());
        assertThat(again.runs()).isEqualTo(List.of("ffff", JOB));
        assertThat(again.restoredFrom(4)).containsExactly(new PublishRequest(7, "public.t", 50, at(4), at(4)));
        assertThat(again.stale()).containsExactly("odd \"one\"");
        assertThatThrownBy(() -> Ledger.parse("{\"format-version\":9}"))
                .hasMessage("publisher state must have a known format: format-version=9");
    }
}
