package io.millrace.contract.fitted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.TestingRow;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

final class RawTransformTest {
    private static final FittedPreprocessing FITTED = TestingFitted.of(
            new FittedColumn("age", ColumnType.INT64, Imputer.of(Imputer.Kind.MEAN, 5), Encoder.none(), Scaler.none()),
            TestingFitted.number("pay", Imputer.none(), new Scaler(Scaler.Kind.STANDARD, 2, 3)),
            TestingFitted.text("city", new Encoder.Ordinal(List.of("Bonn"), false)),
            new FittedColumn("day", ColumnType.DATE, Imputer.none(), Encoder.none(), Scaler.none()),
            new FittedColumn("at", ColumnType.TIMESTAMP, Imputer.none(), Encoder.none(), Scaler.none()));
    private static final List<RawColumn> WANTED = List.of(
            new RawColumn("city", RawColumn.Form.TEXT),
            new RawColumn("age", RawColumn.Form.INTEGER),
            new RawColumn("pay", RawColumn.Form.REAL),
            new RawColumn("day", RawColumn.Form.INTEGER),
            new RawColumn("at", RawColumn.Form.REAL));
    private static final long ABOVE_DOUBLE = (1L << 53) + 1;

    private static RawRows rows() {
        RawRows rows = new RawRows(WANTED);
        rows.ensure(3);
        return rows;
    }

    private static void assertRefused(ThrowingCallable call, ErrorCode code, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        ContractException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessage(message);
    }

    @Test
    void takesValuesAsTheyAre() {
        RawRows rows = rows();
        FITTED.bindRaw(WANTED, FITTED.inputs().columns())
                .apply(TestingRow.of(ABOVE_DOUBLE, 2.5, "Ulm", 18_000L, 1_500_000L), rows, 2);
        assertThat(rows.text(0, 2)).isEqualTo("Ulm");
        assertThat(rows.integer(1, 2)).isEqualTo(ABOVE_DOUBLE);
        assertThat(rows.real(2, 2)).isEqualTo(2.5);
        assertThat(rows.integer(3, 2)).isEqualTo(18_000);
        assertThat(rows.real(4, 2)).isEqualTo(1.5);
    }

    @Test
    void findsColumnsByNameWhateverTheirOrder() {
        RawRows rows = rows();
        List<Column> source = List.of(
                new Column("at", ColumnType.TIMESTAMP, true),
                new Column("other", ColumnType.TEXT, true),
                new Column("city", ColumnType.TEXT, true),
                new Column("day", ColumnType.TEXT, true),
                new Column("pay", ColumnType.INT64, true),
                new Column("age", ColumnType.FLOAT64, true));
        FITTED.bindRaw(WANTED, source).apply(TestingRow.of(0L, "x", "Ulm", "1970-01-03", 4L, 33.0), rows, 0);
        assertThat(rows.integer(1, 0)).isEqualTo(33);
        assertThat(rows.real(2, 0)).isEqualTo(4);
        assertThat(rows.integer(3, 0)).isEqualTo(2);
    }

    @Test
    void nullIsMissingOnlyForReals() {
        RawRows rows = rows();
        RawTransform transform = FITTED.bindRaw(WANTED, FITTED.inputs().columns());
        transform.apply(TestingRow.of(1L, null, "Ulm", 0L, null), rows, 0);
        assertThat(rows.real(2, 0)).isNaN();
        assertThat(rows.real(4, 0)).isNaN();
        assertRefused(
                () -> transform.apply(TestingRow.of(null, 1.0, "Ulm", 0L, 0L), rows, 0),
                ErrorCode.INVALID_VALUE,
                "feature value cannot be NULL, since the model has no missing value for it: column=age");
        assertRefused(
                () -> transform.apply(TestingRow.of(1L, 1.0, null, 0L, 0L), rows, 0),
                ErrorCode.INVALID_VALUE,
                "feature value cannot be NULL, since the model has no missing value for it: column=city");
    }

    @Test
    void whatDoesNotFitIsRefusedByName() {
        RawRows rows = rows();
        List<Column> numbers = List.of(
                new Column("age", ColumnType.FLOAT64, true),
                new Column("pay", ColumnType.FLOAT64, true),
                new Column("city", ColumnType.TEXT, true),
                new Column("day", ColumnType.DATE, true),
                new Column("at", ColumnType.TIMESTAMP, true));
        RawTransform transform = FITTED.bindRaw(WANTED, numbers);
        assertRefused(
                () -> transform.apply(TestingRow.of(1.5, 1.0, "Ulm", 0L, 0L), rows, 0),
                ErrorCode.INVALID_VALUE,
                "feature value must be a whole number: column=age");
        assertRefused(
                () -> transform.apply(TestingRow.of(1e19, 1.0, "Ulm", 0L, 0L), rows, 0),
                ErrorCode.INVALID_VALUE,
                "feature value must be a whole number: column=age");
        assertRefused(
                () -> FITTED.bindRaw(List.of(new RawColumn("height", RawColumn.Form.REAL)), numbers),
                ErrorCode.MISSING_COLUMN,
                "wanted column is no input: column=height");
        assertRefused(
                () -> FITTED.bindRaw(WANTED, List.of(new Column("age", ColumnType.INT64, true))),
                ErrorCode.MISSING_COLUMN,
                "feature column is missing: column=pay, givenColumns=1");
        assertRefused(
                () -> FITTED.bindRaw(
                        List.of(new RawColumn("city", RawColumn.Form.TEXT)),
                        TestingFitted.columns(
                                ColumnType.INT64,
                                ColumnType.INT64,
                                ColumnType.INT64,
                                ColumnType.DATE,
                                ColumnType.TIMESTAMP)),
                ErrorCode.WRONG_TYPE,
                "feature column has the wrong type: column=city, type=int64, expectedType=text");
    }

    @Test
    void roomGrowsAndKeepsWhatIsThere() {
        RawRows rows = rows();
        rows.integer(1, 2, 9);
        rows.ensure(100);
        assertThat(rows.integer(1, 2)).isEqualTo(9);
        assertThat(rows.text(0, 99)).isEmpty();
    }
}
