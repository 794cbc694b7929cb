package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.ContractException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Whatever the bytes: a model, or one typed refusal. */
class OnnxFilePropertyTest {
    private static final byte[] MODEL = new TestingGraphs()
            .input("x", TestingGraphs.FLOAT, TestingGraphs.ANY, 4)
            .linearClassifier("x", 4, List.of("a", "b", "c"), "label", "p")
            .constant("unused", new float[] {1, 2, 3}, 3)
            .output("label", TestingGraphs.STRING, TestingGraphs.ANY)
            .output("p", TestingGraphs.FLOAT, TestingGraphs.ANY, 3)
            .bytes();

    private static void read(byte[] bytes) {
        try {
            assertThat(OnnxFile.read(ByteBuffer.wrap(bytes)).classes()).isNotNull();
        } catch (ContractException refused) {
            assertThat(refused.getMessage()).isNotEmpty();
        }
    }

    @Test
    void namesTheClasses() {
        assertThat(OnnxFile.read(ByteBuffer.wrap(MODEL)).classes()).containsExactly("a", "b", "c");
    }

    @Test
    void everyTruncationIsAModelOrRefused() {
        for (int length = 0; length < MODEL.length; length++) {
            read(Arrays.copyOf(MODEL, length));
        }
    }

    @Test
    void everyFlippedBitIsAModelOrRefused() {
        for (int bit = 0; bit < MODEL.length * 8; bit++) {
            byte[] damaged = MODEL.clone();
            damaged[bit / 8] ^= (byte) (1 << (bit % 8));
            read(damaged);
        }
    }

    @Property(tries = 300)
    void anyBytesAreAModelOrRefused(@ForAll byte[] bytes, @ForAll @IntRange(max = 200) int prefix) {
        byte[] mixed = Arrays.copyOf(MODEL, prefix + bytes.length);
        System.arraycopy(bytes, 0, mixed, prefix, bytes.length);
        read(mixed);
    }

    @Test
    void nestingHasALimit() {
        byte[] inner = new byte[0];
        for (int level = 0; level < 40; level++) {
            // A graph in an attribute of a node of a graph.
            inner = field(1, field(5, field(6, inner)));
        }
        byte[] model = field(7, inner);
        try {
            OnnxFile.read(ByteBuffer.wrap(model));
            throw new AssertionError("nested model must be refused");
        } catch (ContractException refused) {
            assertThat(refused).hasMessageStartingWith("messages cannot be nested so deep: offset=");
        }
    }

    private static byte[] field(int number, byte[] value) {
        ByteBuffer field = ByteBuffer.allocate(value.length + 4);
        field.put((byte) (number << 3 | 2));
        field.put((byte) (0x80 | (value.length & 0x7F)));
        field.put((byte) (0x80 | (value.length >>> 7 & 0x7F)));
        field.put((byte) (value.length >>> 14));
        field.put(value);
        return field.array();
    }
}
