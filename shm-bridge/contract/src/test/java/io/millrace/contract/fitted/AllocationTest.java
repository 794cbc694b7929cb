package io.millrace.contract.fitted;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.TestingRow;
import io.millrace.contract.envelope.RowEncoder;
import io.millrace.contract.envelope.WireRow;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The path of every predicted row makes no garbage. */
final class AllocationTest {
    private static final int ROWS = 1000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void decodingAndTransformingAllocatesNothing() {
        FittedPreprocessing fitted = TestingFitted.everything();
        List<Column> columns = fitted.inputs().columns();
        RowEncoder encoder = new RowEncoder(columns);
        for (int row = 0; row < ROWS; row++) {
            encoder.add(TestingRow.of(
                    1.5, row * 0.1, null, (long) row, 10L, true, false, "München", "basic", 19_000L, 1_000_000L));
        }
        // Direct, as a mapped slab is.
        ByteBuffer heap = encoder.rows();
        ByteBuffer rows = ByteBuffer.allocateDirect(heap.remaining()).order(ByteOrder.LITTLE_ENDIAN);
        rows.put(0, heap, 0, heap.remaining());
        WireRow row = new WireRow(columns);
        BoundTransform bound = fitted.bind(columns);
        float[] out = new float[fitted.width()];
        long least = Long.MAX_VALUE;
        // The first passes load classes and are compiled; one pass without a byte is what is claimed.
        for (int pass = 0; pass < 20; pass++) {
            long before = allocatedBytes();
            row.wrap(rows, 0, rows.capacity(), ROWS);
            while (row.next()) {
                bound.apply(row, out, 0);
            }
            least = Math.min(least, allocatedBytes() - before);
        }
        assertThat(least).as("bytes of %s rows", ROWS).isZero();
        assertThat(bound.unseenCount()).isZero();
        assertThat(columns.get(7).type()).isEqualTo(ColumnType.TEXT);
    }

    private static long allocatedBytes() {
        return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
    }
}
