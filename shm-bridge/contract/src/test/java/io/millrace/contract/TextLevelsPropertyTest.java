package io.millrace.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

final class TextLevelsPropertyTest {
    @Property(tries = 200)
    void findsEachLevelAndNothingElse(@ForAll @Size(max = 200) Set<String> distinct, @ForAll List<String> others) {
        List<String> levels = new ArrayList<>(distinct);
        levels.removeIf(level -> !StandardCharsets.UTF_8.newEncoder().canEncode(level));
        TextLevels table = new TextLevels(levels);
        for (int index = 0; index < levels.size(); index++) {
            assertThat(table.indexOf(levels.get(index))).isEqualTo(index);
        }
        for (String other : others) {
            if (StandardCharsets.UTF_8.newEncoder().canEncode(other)) {
                assertThat(table.indexOf(other)).isEqualTo(levels.indexOf(other));
            }
        }
    }

    @Example
    void looksAtBytesInPlace() {
        TextLevels table = new TextLevels(List.of("München", "Köln", ""));
        byte[] slab = "xxMünchenKöln".getBytes(StandardCharsets.UTF_8);
        ByteBuffer buffer = ByteBuffer.wrap(slab).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(table.indexOf(buffer, 2, 8)).isZero();
        assertThat(table.indexOf(buffer, 10, 5)).isEqualTo(1);
        assertThat(table.indexOf(buffer, 10, 4)).isEqualTo(-1);
        assertThat(table.indexOf(buffer, 5, 0)).isEqualTo(2);
    }

    @Example
    void orderIsThatOfCodePoints() {
        List<String> levels = new ArrayList<>(List.of("b", "é", "a", "\uD83D\uDE00", "\uFFFD", "B"));
        levels.sort(TextLevels.ORDER);
        assertThat(levels).containsExactly("B", "a", "b", "é", "\uFFFD", "\uD83D\uDE00");
    }

    @Example
    void rejectsALevelGivenTwice() {
        assertThatThrownBy(() -> new TextLevels(List.of("a", "b", "a")))
                .isInstanceOf(ContractException.class)
                .hasMessage("levels must be distinct: first=0, second=2");
    }

    @Example
    void emptyListHasNoLevels() {
        assertThat(new TextLevels(List.of()).indexOf("a")).isEqualTo(-1);
    }
}
