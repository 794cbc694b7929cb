package io.millrace.contract.fitted;

import static io.millrace.contract.fitted.TestingFitted.apply;
import static io.millrace.contract.fitted.TestingFitted.columns;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.TestingRow;
import java.time.LocalDate;
import java.util.List;
import org.junit.jupiter.api.Test;

final class BoundTransformTest {
    private static final FittedColumn AGE =
            new FittedColumn("age", ColumnType.INT64, Imputer.none(), Encoder.none(), Scaler.none());
    private static final FittedColumn CITY =
            TestingFitted.text("city", new Encoder.Ordinal(List.of("Köln", "München"), false));
    private static final FittedColumn DAY =
            new FittedColumn("day", ColumnType.DATE, Imputer.none(), Encoder.none(), Scaler.none());
    private static final FittedColumn AT =
            new FittedColumn("at", ColumnType.TIMESTAMP, Imputer.none(), Encoder.none(), Scaler.none());
    private static final FittedPreprocessing BOTH = TestingFitted.of(AGE, CITY);

    private static Column column(String name, ColumnType type) {
        return new Column(name, type, true);
    }

    @Test
    void takesColumnsByNameAndIgnoresOthers() {
        List<Column> source = List.of(
                column("id", ColumnType.INT64),
                column("city", ColumnType.TEXT),
                column("extra", ColumnType.TEXT),
                column("age", ColumnType.INT64));
        assertThat(apply(BOTH, source, 7L, "München", "x", 33L)).containsExactly(33f, 1f);
    }

    @Test
    void takesColumnsByPositionWhenNoneHasAName() {
        assertThat(apply(BOTH, columns(ColumnType.INT64, ColumnType.TEXT), 33L, "Köln"))
                .containsExactly(33f, 0f);
    }

    @Test
    void writesAtTheOffsetAndNowhereElse() {
        float[] out = {-1, -1, -1, -1};
        BoundTransform bound = BOTH.bind(columns(ColumnType.INT64, ColumnType.TEXT));
        bound.apply(TestingRow.of(33L, "Köln"), out, 1);
        assertThat(out).containsExactly(-1, 33, 0, -1);
        assertThat(bound.width()).isEqualTo(2);
    }

    @Test
    void rejectsAMissingColumnByName() {
        assertThatThrownBy(() -> BOTH.bind(List.of(column("age", ColumnType.INT64), column("City", ColumnType.TEXT))))
                .isInstanceOf(ContractException.class)
                .hasMessage("feature column is missing: column=city, givenColumns=2")
                .extracting("code")
                .isEqualTo(ErrorCode.MISSING_COLUMN);
    }

    @Test
    void rejectsAColumnGivenTwiceOnlyWhenItIsUsed() {
        Column age = column("age", ColumnType.INT64);
        Column city = column("city", ColumnType.TEXT);
        Column extra = column("extra", ColumnType.TEXT);
        assertThatThrownBy(() -> BOTH.bind(List.of(age, city, age)))
                .hasMessage("feature column is given more than once: column=age")
                .extracting("code")
                .isEqualTo(ErrorCode.AMBIGUOUS_COLUMN);
        assertThat(BOTH.bind(List.of(age, city, extra, extra)).width()).isEqualTo(2);
    }

    @Test
    void rejectsAnArrayOfAnotherLength() {
        assertThatThrownBy(() -> BOTH.bind(columns(ColumnType.FLOAT64)))
                .hasMessage("feature count is wrong: count=1, expectedCount=2")
                .extracting("code")
                .isEqualTo(ErrorCode.WRONG_LENGTH);
        assertThatThrownBy(() -> BOTH.bind(List.of())).hasMessage("feature count is wrong: count=0, expectedCount=2");
    }

    @Test
    void rejectsAnArrayWhereAFeatureIsNotNumeric() {
        assertThatThrownBy(() -> BOTH.bind(columns(ColumnType.FLOAT64, ColumnType.FLOAT64)))
                .hasMessage("number cannot stand for the feature: column=city, position=2, type=text")
                .extracting("code")
                .isEqualTo(ErrorCode.NOT_NUMERIC);
    }

    @Test
    void rejectsAnotherTypeByColumnAndBothTypes() {
        assertThatThrownBy(() -> BOTH.bind(List.of(column("age", ColumnType.DATE), column("city", ColumnType.TEXT))))
                .hasMessage("feature column has the wrong type: column=age, type=date, expectedType=int64")
                .extracting("code")
                .isEqualTo(ErrorCode.WRONG_TYPE);
        assertThatThrownBy(() -> BOTH.bind(List.of(column("age", ColumnType.INT64), column("city", ColumnType.INT64))))
                .hasMessage("feature column has the wrong type: column=city, type=int64, expectedType=text");
        assertThatThrownBy(() -> TestingFitted.of(DAY).bind(List.of(column("day", ColumnType.TIMESTAMP))))
                .hasMessage("feature column has the wrong type: column=day, type=timestamp, expectedType=date");
    }

    @Test
    void everyPairOfTypesIsBoundOrRefusedByName() {
        for (ColumnType wanted : ColumnType.values()) {
            Encoder encoder = wanted == ColumnType.TEXT ? new Encoder.Ordinal(List.of("a"), false) : Encoder.none();
            FittedPreprocessing fitted =
                    TestingFitted.of(new FittedColumn("x", wanted, Imputer.none(), encoder, Scaler.none()));
            for (ColumnType given : ColumnType.values()) {
                boolean fits =
                        wanted == given || (wanted.isNumeric() && given.isNumeric()) || (given == ColumnType.TEXT);
                List<Column> source = List.of(column("x", given));
                if (fits) {
                    assertThat(apply(fitted, source, (Object) null)).containsExactly(Float.NaN);
                } else {
                    assertThatThrownBy(() -> fitted.bind(source))
                            .hasMessage("feature column has the wrong type: column=x, type=" + given.text()
                                    + ", expectedType=" + wanted.text());
                }
            }
        }
    }

    @Test
    void numbersStandForEachOther() {
        assertThat(apply(TestingFitted.of(AGE), columns(ColumnType.FLOAT64), 3.5))
                .containsExactly(3.5f);
        assertThat(apply(TestingFitted.of(AGE), columns(ColumnType.BOOLEAN), true))
                .containsExactly(1f);
        assertThat(apply(AGE, 1L << 40)).containsExactly((float) (1L << 40));
    }

    @Test
    void anUntypedNullIsTextAndStandsForAnyNull() {
        List<Column> source = List.of(column("age", ColumnType.TEXT), column("city", ColumnType.TEXT));
        assertThat(apply(BOTH, source, null, "Köln")).containsExactly(Float.NaN, 0f);
        assertThatThrownBy(() -> apply(BOTH, source, "33", "Köln"))
                .isInstanceOf(ContractException.class)
                .hasMessage("feature column has the wrong type: column=age, type=text, expectedType=int64")
                .extracting("code")
                .isEqualTo(ErrorCode.WRONG_TYPE);
    }

    @Test
    void nullIsMissing() {
        assertThat(apply(BOTH, columns(ColumnType.INT64, ColumnType.TEXT), null, null))
                .containsExactly(Float.NaN, Float.NaN);
    }

    @Test
    void unseenTextIsMinusOneAndCounted() {
        BoundTransform bound = BOTH.bind(columns(ColumnType.INT64, ColumnType.TEXT));
        float[] out = new float[2];
        bound.apply(TestingRow.of(1L, "Berlin"), out, 0);
        assertThat(out[1]).isEqualTo(-1f);
        bound.apply(TestingRow.of(1L, null), out, 0);
        bound.apply(TestingRow.of(1L, "Köln"), out, 0);
        assertThat(bound.unseenCount()).isEqualTo(1);
    }

    @Test
    void datesAreDaysAndTimestampsSeconds() {
        assertThat(apply(DAY, -1L)).containsExactly(-1f);
        assertThat(apply(AT, 1_500_000L)).containsExactly(1.5f);
    }

    @Test
    void isoTextStandsForDateAndTimestamp() {
        List<Column> text = columns(ColumnType.TEXT);
        FittedPreprocessing day = TestingFitted.of(DAY);
        FittedPreprocessing at = TestingFitted.of(AT);
        float days = LocalDate.of(2024, 2, 29).toEpochDay();
        assertThat(apply(day, text, "2024-02-29")).containsExactly(days);
        assertThat(apply(day, text, "2024-02-29T10:00:00")).containsExactly(days);
        assertThat(apply(at, text, "1970-01-02")).containsExactly(86_400f);
        assertThat(apply(at, text, "1970-01-01T00:00:01.5")).containsExactly(1.5f);
        assertThat(apply(at, text, "1970-01-01 00:00:01.25")).containsExactly(1.25f);
        assertThat(apply(at, text, "1970-01-01T02:00:01+02:00")).containsExactly(1f);
        assertThat(apply(at, text, "1970-01-01 02:00:01+02")).containsExactly(1f);
        assertThat(apply(at, text, "1970-01-01T00:00:01Z")).containsExactly(1f);
    }

    @Test
    void rejectsTextThatIsNoDateWithoutRepeatingIt() {
        for (String value : List.of("secret", "2024-02-30", "2024-13-01", "", "2024-02-29T", "9999999999-01-01")) {
            assertThatThrownBy(() -> apply(TestingFitted.of(DAY), columns(ColumnType.TEXT), value))
                    .as(value)
                    .isInstanceOf(ContractException.class)
                    .hasMessage("feature value must be an ISO 8601 date: column=day")
                    .extracting("code")
                    .isEqualTo(ErrorCode.INVALID_VALUE);
        }
    }

    @Test
    void whatFloat32CannotHoldIsClampedAndKeepsItsOrder() {
        FittedColumn x = TestingFitted.number("x", Imputer.none(), Scaler.none());
        assertThat(apply(x, 1e300)).containsExactly(1e38f);
        assertThat(apply(x, Double.POSITIVE_INFINITY)).containsExactly(1e38f);
        assertThat(apply(x, Double.NEGATIVE_INFINITY)).containsExactly(-1e38f);
        assertThat(apply(x, -1e300)).containsExactly(-1e38f);
        assertThat(apply(x, 1e-300)).containsExactly(0f);
        assertThat(apply(x, Double.NaN)).containsExactly(Float.NaN);
    }

    @Test
    void integersAndBooleansMayHaveLevels() {
        FittedColumn zip = new FittedColumn(
                "zip",
                ColumnType.INT64,
                Imputer.of(Imputer.Kind.MOST_FREQUENT, 2),
                new Encoder.Ordinal(List.of("10", "2", "-3"), false),
                Scaler.none());
        assertThat(apply(zip, 10L)).containsExactly(0f);
        assertThat(apply(zip, -3L)).containsExactly(2f);
        assertThat(apply(zip, 4L)).containsExactly(-1f);
        assertThat(apply(zip, null)).containsExactly(1f);
        assertThat(apply(TestingFitted.of(zip), columns(ColumnType.FLOAT64), 2.0))
                .containsExactly(1f);
        assertThat(apply(TestingFitted.of(zip), columns(ColumnType.FLOAT64), 2.5))
                .containsExactly(-1f);
        FittedColumn flag = new FittedColumn(
                "flag",
                ColumnType.BOOLEAN,
                Imputer.none(),
                new Encoder.OneHot(List.of("false", "true"), false),
                Scaler.none());
        assertThat(apply(flag, true)).containsExactly(0f, 1f);
        assertThat(apply(flag, null)).containsExactly(0f, 0f);
    }

    @Test
    void anImputedLevelOutsideOfTheListIsUnseenOrPooled() {
        Imputer constant = Imputer.of(Imputer.Kind.CONSTANT, "absent");
        FittedColumn kept = new FittedColumn(
                "t", ColumnType.TEXT, constant, new Encoder.OneHot(List.of("a"), false), Scaler.none());
        assertThat(apply(kept, null)).containsExactly(0f);
        FittedColumn pooled =
                new FittedColumn("t", ColumnType.TEXT, constant, new Encoder.OneHot(List.of("a"), true), Scaler.none());
        assertThat(apply(pooled, null)).containsExactly(0f, 1f);
    }

    @Test
    void everythingAtOnce() {
        FittedPreprocessing fitted = TestingFitted.everything();
        float[] out = apply(
                fitted,
                fitted.inputs().columns(),
                null,
                30.0,
                7.0,
                -2L,
                null,
                true,
                false,
                "München",
                null,
                null,
                null);
        assertThat(out).containsExactly(0f, 1f, 1f, 2f, -0.5f, 0f, 0f, 1f, 1f, 0f, 1f, 0f, 1f, 0f, 0f, Float.NaN);
    }
}
