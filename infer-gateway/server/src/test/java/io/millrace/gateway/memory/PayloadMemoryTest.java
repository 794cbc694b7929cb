package io.millrace.gateway.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.PayloadLayout;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class PayloadMemoryTest {
    private final PayloadMemory memory = new PayloadMemory(1000);

    @Test
    void countsWhatIsInFlightAndRefusesMore() {
        memory.reserve(600);
        assertThatThrownBy(() -> memory.reserve(401))
                .hasMessage("payloads in flight must fit their memory: length=401, usedBytes=600, limitBytes=1000")
                .isInstanceOfSatisfying(
                        ContractException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.QUEUE_FULL));
        memory.reserve(400);
        memory.release(1000);
        assertThat(memory.usedBytes()).isZero();
    }

    @Test
    void aResponseGrowsWithItsBytesAndGivesTheOldOnesBack() {
        ByteBuffer slab =
                ByteBuffer.wrap(new byte[] {0, 1, 2, 3, 4}).position(1).limit(4);
        ByteBuffer first = memory.grow(slab, null, 5);
        assertThat(first).isNotNull();
        if (first != null) {
            assertThat(first.capacity()).isEqualTo(6);
            assertThat(memory.usedBytes()).isEqualTo(6);
            ByteBuffer second = memory.grow(first.duplicate().limit(3), first, 100);
            assertThat(second).isNotNull();
            if (second != null) {
                assertThat(second.capacity()).isEqualTo(100);
                byte[] bytes = new byte[3];
                second.get(0, bytes);
                assertThat(bytes).containsExactly(1, 2, 3);
                assertThat(memory.usedBytes()).isEqualTo(100);
                memory.free(second);
            }
        }
        assertThat(memory.usedBytes()).isZero();
    }

    @Test
    void noResponseOutgrowsTheLimit() {
        assertThat(memory.grow(ByteBuffer.allocate(1), null, PayloadLayout.LENGTH_LIMIT + 1L))
                .isNull();
        assertThat(memory.usedBytes()).isZero();
    }
}
