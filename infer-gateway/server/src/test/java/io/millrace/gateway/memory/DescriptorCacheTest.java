package io.millrace.gateway.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.envelope.DescriptorParser;
import io.millrace.contract.envelope.RequestEnvelope;
import io.millrace.gateway.core.RowSchema;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DescriptorCacheTest {
    private final DescriptorCache cache = new DescriptorCache(1000);

    private static List<Column> columns(int seed, int count) {
        return IntStream.range(0, count)
                .mapToObj(index -> new Column("c" + seed + "_" + index, ColumnType.FLOAT64, true))
                .toList();
    }

    private static RequestEnvelope request(List<Column> columns, boolean sent) {
        byte[] descriptor = DescriptorParser.encode(columns);
        ByteBuffer slab = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);
        int length = RequestEnvelope.encode(
                slab,
                0,
                0,
                DescriptorParser.hash(descriptor),
                sent ? descriptor : new byte[0],
                new byte[0],
                ByteBuffer.allocate(0));
        RequestEnvelope envelope = new RequestEnvelope();
        envelope.wrap(slab, 0, length);
        return envelope;
    }

    @Test
    void isBoundedInColumns() {
        for (int seed = 0; seed < 100; seed++) {
            RowSchema wide = cache.schema(request(columns(seed, 96), true));
            assertThat(wide).isNotNull();
            assertThat(cache.schema(request(columns(seed, 96), false))).isSameAs(wide);
            assertThat(cache.columnCount()).isLessThanOrEqualTo(1000);
        }
        assertThat(cache.schema(request(columns(0, 96), false)))
                .as("asked for again")
                .isNull();
    }

    @Test
    void countsNarrowOnesToo() {
        for (int seed = 0; seed < 1000; seed++) {
            cache.schema(request(columns(seed, 1), true));
            assertThat(cache.columnCount()).isLessThanOrEqualTo(1000);
        }
    }

    @Test
    void aKnownOneIsCountedOnce() {
        RowSchema first = cache.schema(request(columns(1, 10), true));
        int count = cache.columnCount();
        assertThat(cache.schema(request(columns(1, 10), true))).isSameAs(first);
        assertThat(cache.columnCount()).isEqualTo(count);
    }
}
