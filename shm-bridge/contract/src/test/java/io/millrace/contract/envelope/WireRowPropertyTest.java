package io.millrace.contract.envelope;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.TestingRow;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;
import org.jspecify.annotations.Nullable;

final class WireRowPropertyTest {
    /** One value with its type; null is NULL. */
    record Cell(ColumnType type, @Nullable Object value) {}

    @Provide
    Arbitrary<Cell> cells() {
        return Arbitraries.of(ColumnType.values())
                .flatMap(type -> values(type).injectNull(0.2).map(value -> new Cell(type, value)));
    }

    private static Arbitrary<Object> values(ColumnType type) {
        return switch (type) {
            case BOOLEAN -> Arbitraries.of(true, false).map(Object.class::cast);
            case INT64, TIMESTAMP -> Arbitraries.longs().map(Object.class::cast);
            case FLOAT64 -> Arbitraries.doubles().map(Object.class::cast);
            case DATE -> Arbitraries.integers().map(Integer::longValue).map(Object.class::cast);
            case TEXT -> Arbitraries.strings().alpha().ofMaxLength(20).map(Object.class::cast);
        };
    }

    @Property(tries = 300)
    void readsBackAnyRow(@ForAll("rows") List<Cell> cells) {
        List<Column> columns = columns(cells);
        TestingRow row = TestingRow.of(cells.stream().map(Cell::value).toArray());
        RowEncoder encoder = new RowEncoder(columns).add(row).add(row);
        ByteBuffer rows = encoder.rows();
        WireRow read = new WireRow(columns).wrap(rows, 0, rows.remaining(), 2);
        for (int index = 0; index < 2; index++) {
            assertThat(read.next()).isTrue();
            for (int column = 0; column < cells.size(); column++) {
                assertThat(value(read, column, cells.get(column).type()))
                        .isEqualTo(cells.get(column).value());
            }
        }
        assertThat(read.next()).isFalse();
    }

    @Provide
    Arbitrary<List<Cell>> rows() {
        return cells().list().ofMaxSize(40);
    }

    @Property(tries = 1000)
    void anyBytesAreReadOrRefused(@ForAll("rows") List<Cell> cells, @ForAll @Size(max = 200) byte[] bytes) {
        List<Column> columns = columns(cells);
        ByteBuffer rows = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        WireRow read = new WireRow(columns).wrap(rows, 0, bytes.length, 3);
        try {
            while (read.next()) {
                for (int column = 0; column < columns.size(); column++) {
                    value(read, column, columns.get(column).type());
                }
            }
        } catch (ContractException refused) {
            assertThat(refused.getMessage()).isNotBlank();
        }
    }

    private static List<Column> columns(List<Cell> cells) {
        List<Column> columns = new ArrayList<>();
        for (Cell cell : cells) {
            columns.add(new Column("", cell.type(), true));
        }
        return columns;
    }

    private static @Nullable Object value(WireRow row, int column, ColumnType type) {
        if (row.isNull(column)) {
            return null;
        }
        return switch (type) {
            case BOOLEAN -> row.booleanValue(column);
            case INT64, DATE, TIMESTAMP -> row.int64(column);
            case FLOAT64 -> row.float64(column);
            case TEXT -> row.text(column);
        };
    }
}
