package io.millrace.contract.envelope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Golden;
import io.millrace.contract.Survival;
import io.millrace.contract.TestingRow;
import io.millrace.contract.TextLevels;
import io.millrace.contract.layout.RequestLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RequestEnvelopeTest {
    private static final List<Column> COLUMNS = List.of(
            new Column("flag", ColumnType.BOOLEAN, true),
            new Column("count", ColumnType.INT64, true),
            new Column("ratio", ColumnType.FLOAT64, true),
            new Column("città", ColumnType.TEXT, true),
            new Column("day", ColumnType.DATE, true),
            new Column("at", ColumnType.TIMESTAMP, true),
            new Column("\"a.b\" \uD83D\uDE00", ColumnType.FLOAT64, true),
            new Column("h", ColumnType.INT64, true),
            new Column("i", ColumnType.TEXT, true));
    private static final ModelReference REFERENCE =
            new ModelReference(7, "churn", "shop", "store:shop/1/42-0", "0123456789abcdef".repeat(4), 123_456);
    private static final RequestLimits LIMITS = new RequestLimits(100, 0, 5, true);
    private static final long TENANT_KEY = 0x0102_0304_0506_0708L;
    private static final TextLevels LEVELS = new TextLevels(List.of("Milano", "Roma"));

    private static byte[] request(boolean withParts) {
        RowEncoder rows = new RowEncoder(COLUMNS)
                .add(TestingRow.of(true, -5L, 2.5, "Roma", -1L, 1_700_000_000_000_000L, null, 1L, ""))
                .add(TestingRow.of(null, null, null, null, null, null, null, null, null))
                .add(TestingRow.of(false, Long.MIN_VALUE, Double.NaN, "ö", 19_000L, -1L, 1e300, null, "x"));
        byte[] descriptor = DescriptorParser.encode(COLUMNS);
        byte[] reference = REFERENCE.toJson();
        byte[] none = new byte[0];
        ByteBuffer slab = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
        int length = RequestEnvelope.encode(
                slab,
                0,
                rows.rowCount(),
                DescriptorParser.hash(descriptor),
                withParts ? descriptor : none,
                withParts ? reference : none,
                rows.rows());
        RequestEnvelope.encodeTenant(slab, 0, withParts, TENANT_KEY, LIMITS.fingerprint());
        byte[] bytes = new byte[length];
        slab.get(0, bytes);
        return bytes;
    }

    private static ByteBuffer little(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Reads all there is to read. */
    private static void readAll(byte[] bytes) {
        RequestEnvelope request = new RequestEnvelope().wrap(little(bytes), 0, bytes.length);
        List<Column> columns = request.hasDescriptor() ? request.descriptor() : COLUMNS;
        if (request.hasModelReference()) {
            request.modelReference();
        }
        WireRow row = new WireRow(columns).wrap(request);
        while (row.next()) {
            for (int column = 0; column < columns.size(); column++) {
                if (!row.isNull(column)) {
                    readValue(row, column, columns.get(column).type());
                }
            }
        }
    }

    private static void readValue(WireRow row, int column, ColumnType type) {
        switch (type) {
            case BOOLEAN -> row.booleanValue(column);
            case INT64, DATE, TIMESTAMP -> row.int64(column);
            case FLOAT64 -> row.float64(column);
            case TEXT -> {
                row.text(column);
                row.level(column, LEVELS);
            }
        }
    }

    @Test
    void readsBackWhatItWrites() {
        byte[] bytes = request(true);
        // Not at the start, so that an absolute offset without the base would show.
        ByteBuffer slab = ByteBuffer.allocate(bytes.length + 100).order(ByteOrder.LITTLE_ENDIAN);
        slab.put(37, bytes);
        RequestEnvelope request = new RequestEnvelope().wrap(slab, 37, bytes.length);
        assertThat(request.rowCount()).isEqualTo(3);
        assertThat(request.isBulk()).isTrue();
        assertThat(request.tenantKey()).isEqualTo(TENANT_KEY);
        assertThat(request.limits()).isEqualTo(LIMITS.fingerprint());
        assertThat(request.descriptor()).isEqualTo(COLUMNS);
        assertThat(request.modelReference()).isEqualTo(REFERENCE);
        WireRow row = new WireRow(COLUMNS).wrap(request);

        assertThat(row.next()).isTrue();
        assertThat(row.booleanValue(0)).isTrue();
        assertThat(row.int64(1)).isEqualTo(-5);
        assertThat(row.float64(2)).isEqualTo(2.5);
        assertThat(row.text(3)).isEqualTo("Roma");
        assertThat(row.level(3, LEVELS)).isEqualTo(1);
        assertThat(row.int64(4)).isEqualTo(-1);
        assertThat(row.int64(5)).isEqualTo(1_700_000_000_000_000L);
        assertThat(row.isNull(6)).isTrue();
        assertThat(row.text(8)).isEmpty();

        assertThat(row.next()).isTrue();
        for (int column = 0; column < COLUMNS.size(); column++) {
            assertThat(row.isNull(column)).isTrue();
        }

        assertThat(row.next()).isTrue();
        assertThat(row.booleanValue(0)).isFalse();
        assertThat(row.int64(1)).isEqualTo(Long.MIN_VALUE);
        assertThat(row.float64(2)).isNaN();
        assertThat(row.level(3, LEVELS)).isEqualTo(-1);
        assertThat(row.isNull(7)).isTrue();
        assertThat(row.next()).isFalse();
    }

    @Test
    void bytesAreWhereTheDiagramSays() {
        byte[] bytes = request(true);
        Golden.check("request.hex", Golden.hex(bytes, bytes.length));
    }

    @Test
    void survivesDamage() {
        for (boolean withParts : new boolean[] {true, false}) {
            Survival.refusesEveryPrefix(request(withParts), RequestEnvelopeTest::readAll);
            Survival.survivesEveryBitFlip(request(withParts), RequestEnvelopeTest::readAll);
        }
    }

    @Test
    void everyFlippedBitOfADescriptorIsSeen() {
        byte[] valid = request(true);
        int length = DescriptorParser.encode(COLUMNS).length;
        for (int bit = RequestLayout.HEADER_LENGTH * 8; bit < (RequestLayout.HEADER_LENGTH + length) * 8; bit++) {
            ContractException refused = Survival.outcome(Survival.flipped(valid, bit), RequestEnvelopeTest::readAll);
            assertThat(refused).isNotNull().hasMessageStartingWith("descriptor hash is wrong: hash=0x");
        }
    }

    @Test
    void descriptorSurvivesDamageWithoutItsHash() {
        byte[] valid = DescriptorParser.encode(COLUMNS);
        Survival.refusesEveryPrefix(valid, bytes -> DescriptorParser.parse(little(bytes), 0, bytes.length));
        Survival.survivesEveryBitFlip(valid, bytes -> DescriptorParser.parse(little(bytes), 0, bytes.length));
    }

    @Test
    void rejectsWhatIsWrongWithNumbers() {
        byte[] valid = request(false);
        assertThatThrownBy(() -> readAll(put(valid, RequestLayout.VERSION_OFFSET, 1)))
                .isInstanceOf(ContractException.class)
                .hasMessage("request version is unknown: version=1, expectedVersion=2")
                .extracting("code")
                .isEqualTo(ErrorCode.UNKNOWN_VERSION);
        assertThatThrownBy(() -> readAll(put(valid, RequestLayout.RESERVED_OFFSET, 1)))
                .hasMessage("request flags must be known: flags=0, reserved=1");
        assertThatThrownBy(() -> readAll(put(valid, RequestLayout.FLAGS_OFFSET, 2)))
                .hasMessage("request flags must be known: flags=2, reserved=0");
        assertThatThrownBy(() -> readAll(put(valid, RequestLayout.ROW_COUNT_OFFSET, -1)))
                .hasMessage("request has too many rows: rows=4294967295, limit=1048576");
        assertThatThrownBy(() -> readAll(put(valid, RequestLayout.ROW_COUNT_OFFSET, 2)))
                .hasMessage("rows have bytes after the last row: remaining=50");
        assertThatThrownBy(() -> readAll(put(valid, RequestLayout.ROW_COUNT_OFFSET, 4)))
                .hasMessage("row is truncated: length=2, remaining=0");
        assertThatThrownBy(() -> readAll(put(valid, RequestLayout.ROWS_LENGTH_OFFSET, -1)))
                .hasMessage("request lengths do not add up: descriptorLength=0, modelReferenceLength=0, "
                        + "rowsLength=4294967295, available=" + (valid.length - RequestLayout.HEADER_LENGTH));
        assertThatThrownBy(() -> new RequestEnvelope().wrap(little(valid), 0, valid.length + 1))
                .hasMessage("request is truncated: length=" + (valid.length + 1) + ", remaining=" + valid.length);
        assertThatThrownBy(() -> new RequestEnvelope().wrap(little(valid), 0, -1))
                .hasMessage("request is truncated: length=-1, remaining=" + valid.length);
    }

    private static byte[] put(byte[] valid, int offset, int value) {
        byte[] damaged = valid.clone();
        if (offset < RequestLayout.ROW_COUNT_OFFSET) {
            little(damaged).putShort(offset, (short) value);
        } else {
            little(damaged).putInt(offset, value);
        }
        return damaged;
    }

    @Test
    void aRequestMayHaveNoRowsAndFreeBytes() {
        ByteBuffer slab = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        byte[] none = new byte[0];
        byte[] free = "echo".getBytes(StandardCharsets.UTF_8);
        int length = RequestEnvelope.encode(slab, 0, 0, 0, none, none, ByteBuffer.wrap(free));
        RequestEnvelope request = new RequestEnvelope().wrap(slab, 0, length);
        assertThat(request.rowCount()).isZero();
        assertThat(request.rowsLength()).isEqualTo(4);
        assertThat(slab.get(request.rowsOffset())).isEqualTo((byte) 'e');
    }

    @Test
    void modelReferenceReadsBackAndSurvives() {
        byte[] valid = REFERENCE.toJson();
        assertThat(ModelReference.parse(valid)).isEqualTo(REFERENCE);
        Survival.refusesEveryPrefix(valid, ModelReference::parse);
        Survival.survivesEveryBitFlip(valid, ModelReference::parse);
        assertThat(REFERENCE.modelKey()).isEqualTo(0xefcd_ab89_6745_2301L);
    }

    @Test
    void modelReferenceCarriesTheLimitsOfItsProject() {
        ModelReference limited = new ModelReference(7, "churn", "shop", "u", "ab".repeat(32), 1, LIMITS);
        ModelReference merging = new ModelReference(
                7, "churn", "shop", "u", "ab".repeat(32), 1, new RequestLimits(0, 0, 0, false, 100_000));
        assertThat(ModelReference.parse(merging.toJson())).isEqualTo(merging);
        byte[] valid = limited.toJson();
        assertThat(ModelReference.parse(valid)).isEqualTo(limited);
        Survival.refusesEveryPrefix(valid, ModelReference::parse);
        Survival.survivesEveryBitFlip(valid, ModelReference::parse);
        assertThatThrownBy(() -> ModelReference.parse(new String(valid, StandardCharsets.UTF_8)
                        .replace("wait", "weit")
                        .getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(ContractException.class)
                .hasMessage("model reference.limits field must be reject or wait: field=on-limit");
    }

    @Test
    void everyNumberIsPartOfTheNameOfTheLimits() {
        assertThat(RequestLimits.NONE.fingerprint()).isZero();
        assertThat(new RequestLimits(0, 0, 0, true).fingerprint()).isZero();
        assertThat(new RequestLimits(0, 0, 0, false, 0).fingerprint()).isNotZero();
        assertThat(LIMITS.fingerprint())
                .as("the extension's test limits.sql has the same number")
                .isEqualTo(-5896713761818372443L);
        assertThat(List.of(
                        LIMITS.fingerprint(),
                        new RequestLimits(101, 0, 5, true).fingerprint(),
                        new RequestLimits(100, 1, 5, true).fingerprint(),
                        new RequestLimits(100, 0, 6, true).fingerprint(),
                        new RequestLimits(100, 0, 5, false).fingerprint(),
                        new RequestLimits(100, 0, 5, true, 0).fingerprint(),
                        new RequestLimits(100, 0, 5, true, 200).fingerprint()))
                .doesNotHaveDuplicates()
                .doesNotContain(0L);
    }
}
