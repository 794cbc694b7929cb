package io.millrace.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.layout.SlotLayout;
import io.millrace.contract.layout.SlotState;
import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SlotTableTest {
    private static final int SLOT = 77;
    private static final int PID = 4242;

    private static TestingDirectory directory;
    private static Region region;
    private static TestingBackend backend;

    @BeforeAll
    static void createRegion() throws IOException {
        directory = TestingDirectory.create();
        region = Region.create(RegionConfig.of(directory.path()));
        region.serve();
        // The region's thread is this one: nobody serves the doorbell, so accept by hand.
        Thread accept = new Thread(() -> {
            try {
                region.doorbell().await();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        accept.start();
        backend = TestingBackend.attach(directory.path(), PID);
        region.doorbell().wake();
        try {
            accept.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @AfterAll
    static void closeRegion() throws IOException {
        backend.close();
        region.close();
        directory.close();
    }

    @BeforeEach
    @AfterEach
    void freeAll() {
        region.slots().takeReady(new int[SlotLayout.SLOT_COUNT], new long[SlotLayout.SLOT_COUNT]);
        for (int slotIndex = 0; slotIndex < SlotLayout.SLOT_COUNT; slotIndex++) {
            backend.forceStateWord(slotIndex, SlotLayout.stateWord(7, PID, SlotState.FREE));
        }
        region.slots().census().validate();
    }

    private enum Move {
        TAKE,
        FINISH,
        RECLAIM;

        /** Whether the move happened; freeing an abandoned slot counts as none, since nobody waits for it. */
        boolean apply(long word) {
            return switch (this) {
                case TAKE -> region.slots().take(SLOT, word);
                case FINISH -> region.slots().finish(SLOT, word, 0, 0, 1);
                case RECLAIM -> region.slots().reclaim(SLOT, word) != SlotTable.Reclaimed.UNCHANGED;
            };
        }
    }

    private static SlotState expected(Move move, SlotState state) {
        return switch (move) {
            case TAKE -> state == SlotState.SUBMITTED ? SlotState.RUNNING : state;
            case RECLAIM ->
                switch (state) {
                    case CLAIMED, SUBMITTED, DONE, FREE -> SlotState.FREE;
                    case RUNNING, ABANDONED -> SlotState.ABANDONED;
                };
            case FINISH ->
                switch (state) {
                    case RUNNING -> SlotState.DONE;
                    case ABANDONED -> SlotState.FREE;
                    default -> state;
                };
        };
    }

    @Test
    void everyMoveFromEveryStateIsTheTablesOrNone() {
        for (Move move : Move.values()) {
            for (SlotState state : SlotState.values()) {
                long word = SlotLayout.stateWord(9, PID, state);
                backend.forceStateWord(SLOT, word);
                boolean moved = move.apply(word);
                assertThat(moved)
                        .as(move + " from " + state)
                        .isEqualTo(expected(move, state) != state && state != SlotState.ABANDONED);
                long now = backend.stateWord(SLOT);
                assertThat(SlotLayout.state(now)).as(move + " from " + state).isEqualTo(expected(move, state));
                assertThat(SlotLayout.generation(now)).isEqualTo(9);
                assertThat(SlotLayout.ownerPid(now)).isEqualTo(PID);
            }
        }
    }

    @Test
    void finishMovesOnlyItsOwnUseOfTheSlot() {
        long running = SlotLayout.stateWord(9, PID, SlotState.RUNNING);
        for (SlotState state : SlotState.values()) {
            backend.forceStateWord(SLOT, SlotLayout.withState(running, state));
            boolean wanted = region.slots().finish(SLOT, running, 5, 0, 1);
            SlotState after = switch (state) {
                case RUNNING -> SlotState.DONE;
                case ABANDONED -> SlotState.FREE;
                default -> state;
            };
            assertThat(backend.state(SLOT)).as("finish from " + state).isEqualTo(after);
            assertThat(wanted).as("wanted in " + state).isEqualTo(state == SlotState.RUNNING);
        }
    }

    @Test
    void aMoveWithAWordOfAnotherGenerationDoesNothing() {
        for (Move move : Move.values()) {
            for (SlotState state : SlotState.values()) {
                long word = SlotLayout.stateWord(10, PID, state);
                backend.forceStateWord(SLOT, word);
                assertThat(move.apply(SlotLayout.stateWord(9, PID, state))).isFalse();
                assertThat(backend.stateWord(SLOT)).as(move + " in " + state).isEqualTo(word);
            }
        }
    }

    @Test
    void aMoveWithAWordOfAnotherOwnerDoesNothing() {
        for (Move move : Move.values()) {
            for (SlotState state : SlotState.values()) {
                long word = SlotLayout.stateWord(9, PID + 1, state);
                backend.forceStateWord(SLOT, word);
                assertThat(move.apply(SlotLayout.stateWord(9, PID, state))).isFalse();
                assertThat(backend.stateWord(SLOT)).as(move + " in " + state).isEqualTo(word);
            }
        }
    }

    @Test
    void backendAndGatewayTogetherMakeOnlyMovesOfTheContract() {
        for (SlotState state : SlotState.values()) {
            for (SlotState next : SlotState.values()) {
                boolean legal = switch (state) {
                    case FREE -> next == SlotState.CLAIMED;
                    case CLAIMED -> next == SlotState.SUBMITTED || next == SlotState.FREE;
                    case SUBMITTED -> next == SlotState.RUNNING || next == SlotState.FREE;
                    case RUNNING -> next == SlotState.DONE || next == SlotState.ABANDONED;
                    case DONE, ABANDONED -> next == SlotState.FREE;
                };
                assertThat(state.mayBecome(next)).as(state + " to " + next).isEqualTo(legal);
            }
        }
    }

    @Test
    void takesOnlySubmittedSlotsAndForgetsStaleBits() {
        int[] slots = new int[SlotLayout.SLOT_COUNT];
        long[] words = new long[SlotLayout.SLOT_COUNT];
        for (SlotState state : SlotState.values()) {
            int slotIndex = state.code() * 64 + 63;
            backend.forceStateWord(slotIndex, SlotLayout.stateWord(3, PID, state));
            backend.forceReadyBit(slotIndex);
        }
        assertThat(region.slots().hasReady()).isTrue();
        assertThat(region.slots().takeReady(slots, words)).isEqualTo(1);
        assertThat(slots[0]).isEqualTo(SlotState.SUBMITTED.code() * 64 + 63);
        assertThat(words[0]).isEqualTo(SlotLayout.stateWord(3, PID, SlotState.RUNNING));
        assertThat(region.slots().hasReady()).isFalse();
    }

    @Test
    void takesAllSlotsAtOnce() {
        for (int slotIndex = 0; slotIndex < SlotLayout.SLOT_COUNT; slotIndex++) {
            backend.forceStateWord(slotIndex, SlotLayout.stateWord(slotIndex, PID, SlotState.SUBMITTED));
            backend.forceReadyBit(slotIndex);
        }
        int[] slots = new int[SlotLayout.SLOT_COUNT];
        long[] words = new long[SlotLayout.SLOT_COUNT];
        assertThat(region.slots().takeReady(slots, words)).isEqualTo(SlotLayout.SLOT_COUNT);
        assertThat(region.slots().census().count(SlotState.RUNNING)).isEqualTo(SlotLayout.SLOT_COUNT);
        assertThat(backend.claim()).isEqualTo(-1);
        for (int i = 0; i < slots.length; i++) {
            assertThat(slots[i]).isEqualTo(i);
            assertThat(region.slots().finish(slots[i], words[i], 0, 0, 1)).isTrue();
        }
        assertThat(region.slots().census().count(SlotState.DONE)).isEqualTo(SlotLayout.SLOT_COUNT);
    }

    @Test
    void censusNamesAStateNobodyKnows() {
        backend.forceStateWord(SLOT, 99);
        assertThat(region.slots().census().unknownCount()).isEqualTo(1);
        assertThatThrownBy(() -> region.slots().census().validate())
                .hasMessage("free and used slots must make up the region: free=511, used=0, unknown=1, slotCount=512");
    }
}
