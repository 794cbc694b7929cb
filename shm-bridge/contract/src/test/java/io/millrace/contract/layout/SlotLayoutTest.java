package io.millrace.contract.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ContractException;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

final class SlotLayoutTest {
    @Property
    void stateWordKeepsItsParts(
            @ForAll int generation, @ForAll @IntRange(max = (1 << 24) - 1) int ownerPid, @ForAll SlotState state) {
        long word = SlotLayout.stateWord(generation, ownerPid, state);
        assertThat(SlotLayout.generation(word)).isEqualTo(generation);
        assertThat(SlotLayout.ownerPid(word)).isEqualTo(ownerPid);
        assertThat(SlotLayout.state(word)).isEqualTo(state);
        for (SlotState next : SlotState.values()) {
            assertThat(SlotLayout.withState(word, next)).isEqualTo(SlotLayout.stateWord(generation, ownerPid, next));
        }
    }

    @Example
    void stateWordHasItsBitsWhereTheDiagramSays() {
        assertThat(SlotLayout.stateWord(0x1234_5678, 0xabcdef, SlotState.DONE)).isEqualTo(0x1234_5678_abcd_ef04L);
    }

    @Example
    void everyMoveIsInTheTable() {
        assertThat(after(SlotState.FREE)).containsExactly(SlotState.CLAIMED);
        assertThat(after(SlotState.CLAIMED)).containsExactly(SlotState.FREE, SlotState.SUBMITTED);
        assertThat(after(SlotState.SUBMITTED)).containsExactly(SlotState.FREE, SlotState.RUNNING);
        assertThat(after(SlotState.RUNNING)).containsExactly(SlotState.DONE, SlotState.ABANDONED);
        assertThat(after(SlotState.DONE)).containsExactly(SlotState.FREE);
        assertThat(after(SlotState.ABANDONED)).containsExactly(SlotState.FREE);
    }

    private static Set<SlotState> after(SlotState state) {
        EnumSet<SlotState> after = EnumSet.noneOf(SlotState.class);
        for (SlotState next : SlotState.values()) {
            if (state.mayBecome(next)) {
                after.add(next);
            }
        }
        return after;
    }

    @Example
    void rejectsUnknownCodes() {
        assertThatThrownBy(() -> SlotLayout.state(6))
                .isInstanceOf(ContractException.class)
                .hasMessage("slot state is unknown: state=6");
        assertThatThrownBy(() -> RequestKind.of(0)).hasMessage("request kind is unknown: kind=0");
        assertThatThrownBy(() -> RequestKind.of(11)).hasMessage("request kind is unknown: kind=11");
        assertThatThrownBy(() -> ValueKind.of(-1)).hasMessage("value kind is unknown: kind=-1");
    }

    @Example
    void codesAreFoundAgain() {
        for (SlotState state : SlotState.values()) {
            assertThat(SlotState.of(state.code())).isEqualTo(state);
        }
        for (RequestKind kind : RequestKind.values()) {
            assertThat(RequestKind.of(kind.code())).isEqualTo(kind);
        }
        for (ValueKind kind : ValueKind.values()) {
            assertThat(ValueKind.of(kind.code())).isEqualTo(kind);
        }
    }

    @Example
    void eachSlotHasOneReadyBit() {
        Set<String> bits = new HashSet<>();
        for (int slotIndex = 0; slotIndex < SlotLayout.SLOT_COUNT; slotIndex++) {
            int offset = ControlLayout.readyWordOffset(slotIndex);
            assertThat(offset).isBetween(0, (ControlLayout.READY_WORD_COUNT - 1) * Long.BYTES);
            assertThat(bits.add(offset + ":" + ControlLayout.readyBit(slotIndex)))
                    .isTrue();
        }
    }
}
