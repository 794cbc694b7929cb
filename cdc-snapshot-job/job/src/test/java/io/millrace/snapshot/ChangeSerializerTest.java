package io.millrace.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.math.BigDecimal;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.junit.jupiter.api.Test;

class ChangeSerializerTest {

    @Test
    void everyValueComesBack() throws IOException {
        GenericRowData row = GenericRowData.of(
                null,
                true,
                false,
                -7,
                1L << 40,
                1.5f,
                Double.NaN,
                StringData.fromString("gr\u00f6\u00dfe"),
                DecimalData.fromBigDecimal(new BigDecimal("-12345678901234567890.25"), 38, 2),
                TimestampData.fromEpochMillis(-1, 999_000));
        assertSame(Change.row("public.\"t\"", 42, null, row));
        assertSame(Change.row("public.t", 42, row, null));
        assertSame(Change.request("public.t", 1, 2));
        assertSame(Change.caughtUp("public.t", 3));
        assertSame(Change.stale("public.t", 4));
    }

    private static void assertSame(Change change) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        ChangeSerializer.INSTANCE.serialize(change, out);
        DataInputDeserializer in = new DataInputDeserializer(out.getCopyOfBuffer());
        assertThat(ChangeSerializer.INSTANCE.deserialize(in)).isEqualTo(change);
        assertThat(in.available()).isZero();
    }
}
