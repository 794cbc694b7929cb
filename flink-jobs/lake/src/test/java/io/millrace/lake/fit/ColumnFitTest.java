package io.millrace.lake.fit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.contract.ColumnType;
import io.millrace.contract.fitted.Encoder;
import io.millrace.contract.fitted.FittedColumn;
import io.millrace.contract.fitted.Imputer;
import io.millrace.contract.fitted.Scaler;
import io.millrace.lake.statistics.ColumnStatistics;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Expected numbers are those of scikit-learn 1.9.1 unless a test says otherwise. */
class ColumnFitTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void treesKeepMissingNumbersAndOrderLevels() {
        FittedColumn number = fit("{}", numbers(1, 2, 3, 4, Double.NaN));
        assertThat(number.imputer()).isEqualTo(Imputer.none());
        assertThat(number.encoder()).isEqualTo(Encoder.none());
        assertThat(number.scaler()).isEqualTo(Scaler.none());
        FittedColumn text = fit("{}", texts("low", "high", "mid", "low", null));
        assertThat(text.encoder()).isEqualTo(new Encoder.Ordinal(List.of("high", "low", "mid"), false));
        assertThat(text.imputer()).isEqualTo(Imputer.none());
    }

    @Test
    void linearModelsGetMedianStandardAndOneHot() {
        // The scaler sees the filled values: SimpleImputer(median) then StandardScaler on 1, 2, 3, 10, NaN.
        FittedColumn number = fit("{'default': 'linear'}", numbers(1, 2, 3, 10, Double.NaN));
        assertThat(number.imputer()).isEqualTo(Imputer.of(Imputer.Kind.MEDIAN, 2.5));
        assertThat(number.scaler().center()).isEqualTo(3.7);
        assertThat(number.scaler().scale()).isCloseTo(3.2187, within(1e-4));
        FittedColumn text = fit("{'default': 'linear'}", texts("b", "a", "B", "é"));
        assertThat(text.encoder()).isEqualTo(new Encoder.OneHot(List.of("B", "a", "b", "é"), false));
    }

    @Test
    void imputesMeanMedianAndMostFrequent() {
        assertThat(fit("{'c': {'impute': 'mean'}}", numbers(1, 2, 3, 4, Double.NaN))
                        .imputer())
                .isEqualTo(Imputer.of(Imputer.Kind.MEAN, 2.5));
        assertThat(fit("{'c': {'impute': 'median'}}", numbers(1, 2, 3, 4, Double.NaN))
                        .imputer())
                .isEqualTo(Imputer.of(Imputer.Kind.MEDIAN, 2.5));
        assertThat(fit("{'c': {'impute': 'most-frequent'}}", numbers(2, 1, 2, 1, 3))
                        .imputer())
                .isEqualTo(Imputer.of(Imputer.Kind.MOST_FREQUENT, 1));
        assertThat(fit("{'c': {'impute': 'most-frequent'}}", texts("b", "a", "b", "a", null))
                        .imputer())
                .isEqualTo(Imputer.of(Imputer.Kind.MOST_FREQUENT, "a"));
        assertThat(fit("{'c': {'impute': 'mean', 'indicator': true}}", numbers(1, Double.NaN))
                        .featureNames())
                .containsExactly("c", "c missing");
    }

    @Test
    void imputesAConstantInTheUnitOfTheColumn() {
        assertThat(fit("{'c': {'impute': 'constant', 'value': -1.5}}", numbers(1))
                        .imputer()
                        .value())
                .isEqualTo(-1.5);
        assertThat(fit("{'c': {'impute': 'constant', 'value': '1970-01-11'}}", statistics(ColumnType.DATE, 1))
                        .imputer()
                        .value())
                .isEqualTo(10);
        assertThat(fit(
                                "{'c': {'impute': 'constant', 'value': '1970-01-01 00:01:00'}}",
                                statistics(ColumnType.TIMESTAMP, 1))
                        .imputer()
                        .value())
                .isEqualTo(60);
        // A constant that stands for NULL is a level like any other.
        assertThat(fit("{'c': {'impute': 'constant', 'value': 'none'}}", texts("a", "x", null))
                        .encoder())
                .isEqualTo(new Encoder.Ordinal(List.of("a", "none", "x"), false));
        assertThat(fit("{'c': {'impute': 'constant', 'value': 'none'}}", texts("a", "x"))
                        .encoder())
                .isEqualTo(new Encoder.Ordinal(List.of("a", "x"), false));
    }

    @Test
    void standardScalerIsExactForLargeMeansAndConstants() {
        assertScaler("standard", numbers(1, 2, 3, 4, Double.NaN), 2.5, 1.118033988749895);
        assertScaler("standard", numbers(1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3), 1000000001.5, 1.118033988749895);
        assertScaler("standard", numbers(7, 7, 7), 7, 1);
        ColumnStatistics tenth = statistics(ColumnType.FLOAT64);
        tenth.add(0.1, 100);
        assertThat(fit("{'c': {'scale': 'standard'}}", tenth).scaler().scale()).isEqualTo(1);
    }

    @Test
    void otherScalersDivideByNothingSmall() {
        assertScaler("min-max", numbers(10, 20, 30), 10, 20);
        assertScaler("min-max", numbers(5, 5), 5, 1);
        assertScaler("max-abs", numbers(-4, 2), 0, 4);
        assertScaler("max-abs", numbers(0, 0), 0, 1);
        assertScaler("robust", numbers(1, 2, 3, 4, 100), 3, 2);
        assertScaler("robust", numbers(1, 2, 3, 4), 2.5, 1.5);
        assertScaler("robust", numbers(5, 5, 5, 9), 5, 1);
    }

    @Test
    void poolsRareLevels() {
        ColumnStatistics levels = statistics(ColumnType.TEXT);
        Map.of("a", 5, "b", 20, "c", 10, "d", 3).forEach((level, count) -> {
            for (int i = 0; i < count; i++) {
                levels.add(level);
            }
        });
        Encoder bAndC = new Encoder.OneHot(List.of("b", "c"), true);
        assertThat(fit("{'c': {'encode': 'one-hot', 'min-frequency': 6}}", levels)
                        .encoder())
                .isEqualTo(bAndC);
        assertThat(fit("{'c': {'encode': 'one-hot', 'min-frequency': 0.2}}", levels)
                        .encoder())
                .isEqualTo(bAndC);
        assertThat(fit("{'c': {'encode': 'one-hot', 'min-frequency': 10}}", levels)
                        .encoder())
                .isEqualTo(bAndC);
        assertThat(fit("{'c': {'encode': 'one-hot', 'max-levels': 2}}", levels).encoder())
                .isEqualTo(new Encoder.OneHot(List.of("b"), true));
        assertThat(fit("{'c': {'encode': 'ordinal', 'max-levels': 3}}", levels).encoder())
                .isEqualTo(new Encoder.Ordinal(List.of("b", "c"), true));
        // Of equally frequent levels the later ones are kept.
        assertThat(fit("{'c': {'encode': 'one-hot', 'max-levels': 3}}", texts("a", "b", "c", "d"))
                        .encoder())
                .isEqualTo(new Encoder.OneHot(List.of("c", "d"), true));
    }

    @Test
    void encodesIntegersAndBooleansByValue() {
        assertThat(fit("{'c': {'encode': 'one-hot'}}", statistics(ColumnType.INT64, 10, 2, 1))
                        .encoder())
                .isEqualTo(new Encoder.OneHot(List.of("1", "2", "10"), false));
        assertThat(fit("{'c': {'encode': 'ordinal'}}", statistics(ColumnType.BOOLEAN, 1, 0))
                        .encoder())
                .isEqualTo(new Encoder.Ordinal(List.of("false", "true"), false));
    }

    @Test
    void scalesCodesOfLevels() {
        FittedColumn scaled = fit("{'c': {'scale': 'min-max'}}", texts("a", "b", "c"));
        assertThat(scaled.scaler()).isEqualTo(new Scaler(Scaler.Kind.MIN_MAX, 0, 2));
    }

    @Test
    void aColumnWithoutAnyValueIsFilledWithZero() {
        ColumnStatistics nothing = statistics(ColumnType.FLOAT64);
        nothing.addNulls(3);
        FittedColumn column = fit("{'default': 'linear'}", nothing);
        assertThat(column.imputer()).isEqualTo(Imputer.of(Imputer.Kind.MEDIAN, 0));
        assertThat(column.scaler()).isEqualTo(new Scaler(Scaler.Kind.STANDARD, 0, 1));
        ColumnStatistics noText = statistics(ColumnType.TEXT);
        noText.addNulls(3);
        assertThat(fit("{'c': {'impute': 'most-frequent'}}", noText).imputer()).isEqualTo(Imputer.none());
    }

    @Test
    void leavesInfinityOutOfEveryParameter() {
        FittedColumn column = fit("{'default': 'linear'}", numbers(1, 3, Double.POSITIVE_INFINITY));
        assertThat(column.imputer().value()).isEqualTo(2);
        assertThat(column.scaler()).isEqualTo(new Scaler(Scaler.Kind.STANDARD, 2, 1));
    }

    @Test
    void keepsTheFrequentOfTooManyLevels() {
        ColumnStatistics many = statistics(ColumnType.TEXT);
        for (int i = 0; i < 50_000; i++) {
            many.add("rare" + i);
            if (i % 10 == 0) {
                many.add("common");
            }
        }
        Encoder.Ordinal encoder = (Encoder.Ordinal) fit("{}", many).encoder();
        assertThat(encoder.pooled()).isTrue();
        assertThat(encoder.levels()).hasSizeLessThan(Options.ORDINAL_LEVELS).contains("common");
        assertThat(many.distinct()).isBetween(48_000L, 52_000L);
    }

    @Test
    void refusesLevelsOfTooManyNumbers() {
        ColumnStatistics many = statistics(ColumnType.INT64);
        for (int i = 0; i < 3_000; i++) {
            many.add(i, 1);
        }
        assertThatThrownBy(() -> fit("{'c': {'encode': 'one-hot'}}", many))
                .hasMessageMatching(
                        "column has too many distinct numbers for levels: column=c, distinct=\\d+, max=2048");
    }

    private static void assertScaler(String scale, ColumnStatistics statistics, double center, double spread) {
        Scaler scaler = fit("{'c': {'scale': '" + scale + "'}}", statistics).scaler();
        assertThat(scaler.center()).isEqualTo(center);
        assertThat(scaler.scale()).isEqualTo(spread);
    }

    private static FittedColumn fit(String preprocess, ColumnStatistics statistics) {
        try {
            Map<String, Options> options =
                    OptionsParser.parse(JSON.readTree(preprocess.replace('\'', '"')), Map.of("c", statistics.type()));
            return ColumnFit.fit("c", statistics, Objects.requireNonNull(options.get("c")));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(preprocess, e);
        }
    }

    private static ColumnStatistics numbers(double... values) {
        return statistics(ColumnType.FLOAT64, values);
    }

    /** NaN becomes NULL; infinity stays. */
    static ColumnStatistics statistics(ColumnType type, double... values) {
        ColumnStatistics statistics = new ColumnStatistics(type);
        for (double value : values) {
            if (Double.isNaN(value)) {
                statistics.addNulls(1);
            } else {
                statistics.add(value, 1);
            }
        }
        return statistics;
    }

    static ColumnStatistics texts(@Nullable String... values) {
        ColumnStatistics statistics = new ColumnStatistics(ColumnType.TEXT);
        for (String value : values) {
            if (value == null) {
                statistics.addNulls(1);
            } else {
                statistics.add(value);
            }
        }
        return statistics;
    }
}
