package io.millrace.lake.fit;

import static io.millrace.lake.fit.ColumnFitTest.statistics;
import static io.millrace.lake.fit.ColumnFitTest.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.contract.ColumnType;
import io.millrace.contract.Task;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.lake.statistics.ColumnStatistics;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PreprocessingFitTest {
    @Test
    void fitsFiveRows() {
        FittedPreprocessing fitted = fit(texts("no", "yes", "no", null, "no"), null, "{}");
        assertThat(fitted.target().task()).isEqualTo(Task.CLASSIFICATION);
        assertThat(fitted.target().labels()).containsExactly("no", "yes");
        assertThat(fitted.counts().rows()).isEqualTo(5);
        assertThat(fitted.counts().nullLabelRows()).isEqualTo(1);
        assertThat(fitted.featureNames()).containsExactly("age", "plan");
        assertThat(FittedPreprocessing.parse(fitted.toJson()).fittedId()).isEqualTo(fitted.fittedId());
    }

    @Test
    void mapsLabelsOfEveryType() {
        assertThat(fit(statistics(ColumnType.BOOLEAN, 1, 0, 1, 1, 0), Task.CLASSIFICATION, "{}")
                        .target()
                        .labels())
                .containsExactly("false", "true");
        assertThat(fit(statistics(ColumnType.INT64, 10, 9, -1, 9, 9), Task.CLASSIFICATION, "{}")
                        .target()
                        .labels())
                .containsExactly("-1", "9", "10");
        assertThat(fit(statistics(ColumnType.FLOAT64, 1, 2.5, 1, 1, 1), Task.CLASSIFICATION, "{}")
                        .target()
                        .labels())
                .containsExactly("1", "2.5");
        assertThat(fit(statistics(ColumnType.FLOAT64, 1, Double.NaN, 3, 1, Double.POSITIVE_INFINITY), null, "{}")
                        .counts()
                        .nullLabelRows())
                .isEqualTo(2);
    }

    @Test
    void infersTheTask() {
        ColumnStatistics many = new ColumnStatistics(ColumnType.INT64);
        for (int i = 0; i <= TargetFit.INFERRED_CLASSES_MAX; i++) {
            many.add(i, 1);
        }
        assertThat(fit(many, null, "{}").target().task()).isEqualTo(Task.REGRESSION);
        assertThat(fit(statistics(ColumnType.INT64, 0, 1, 0, 1, 0), null, "{}")
                        .target()
                        .task())
                .isEqualTo(Task.CLASSIFICATION);
        assertThat(fit(statistics(ColumnType.FLOAT64, 0, 1, 0, 1, 0), null, "{}")
                        .target()
                        .task())
                .isEqualTo(Task.REGRESSION);
    }

    @Test
    void refusesLabelsNothingCanBeLearntFrom() {
        assertThatThrownBy(() -> fit(texts("no", "no", null), Task.CLASSIFICATION, "{}"))
                .hasMessage("label must have two or more classes: column=label, classes=1, rows=3");
        assertThatThrownBy(() -> fit(texts(null, null), Task.CLASSIFICATION, "{}"))
                .hasMessage("label is NULL in every row: column=label, rows=2");
        assertThatThrownBy(() -> fit(texts("a", "b"), Task.REGRESSION, "{}"))
                .hasMessage("label of a regression must be a number: column=label, type=text");
        assertThatThrownBy(() -> fit(statistics(ColumnType.FLOAT64, Double.POSITIVE_INFINITY), Task.REGRESSION, "{}"))
                .hasMessage("label is a finite number in no row: column=label, rows=1");
        assertThatThrownBy(() -> fit(statistics(ColumnType.DATE, 1), null, "{}"))
                .hasMessage("label cannot be a date or a timestamp: column=label, type=date");
        assertThatThrownBy(() -> fit(texts(), null, "{}")).hasMessage("snapshot has no rows: label=label");
        ColumnStatistics many = new ColumnStatistics(ColumnType.INT64);
        for (int i = 0; i <= TargetFit.CLASSES_MAX; i++) {
            many.add(i, 1);
        }
        assertThatThrownBy(() -> fit(many, Task.CLASSIFICATION, "{}"))
                .hasMessage("label has too many classes: column=label, classes=1001, max=1000");
        ColumnStatistics prose = texts("a", "b", "x".repeat(300));
        assertThatThrownBy(() -> fit(prose, Task.CLASSIFICATION, "{}"))
                .hasMessageStartingWith("label has too many classes: column=label");
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '`', textBlock = """
            {'agee': {}}; preprocess names a column that is no feature: column=agee, nearest=age
            {'label': {}}; preprocess names a column that is no feature: column=label
            {'default': 'forest'}; preprocess default is unknown: default=forest, valid=[tree, linear]
            {'default': 3}; preprocess default is unknown: default=3, valid=[tree, linear]
            {'age': 'mean'}; preprocess of a column must be an object: column=age, type=string
            []; preprocess must be an object: type=array
            {'age': {'imput': 'mean'}}; preprocess option is unknown: column=age, option=imput, valid=[encode, impute, indicator, max-levels, min-frequency, scale, value]
            {'age': {'impute': 'avg'}}; preprocess option has no such value: column=age, option=impute, value="avg", valid=[none, mean, median, most-frequent, constant]
            {'age': {'scale': 3}}; preprocess option has no such value: column=age, option=scale, value=3, valid=[none, standard, min-max, max-abs, robust]
            {'age': {'encode': 'ordinal'}}; only text, integer and boolean columns can be encoded: column=age, type=float64
            {'plan': {'encode': 'none'}}; text column must be encoded: column=plan, valid=[ordinal, one-hot]
            {'plan': {'impute': 'mean'}}; encoded column cannot be imputed by its mean: column=plan, valid=[none, most-frequent, constant]
            {'plan': {'encode': 'one-hot', 'scale': 'standard'}}; one-hot column cannot be scaled: column=plan, scale=standard
            {'age': {'impute': 'constant'}}; preprocess value must be given exactly when impute is constant: column=age, impute=constant
            {'age': {'value': 3}}; preprocess value must be given exactly when impute is constant: column=age, impute=none
            {'age': {'impute': 'constant', 'value': 'x'}}; preprocess value does not fit the column: column=age, type=float64
            {'plan': {'impute': 'constant', 'value': 3}}; preprocess value must be a text: column=plan, type=number
            {'plan': {'max-levels': 0}}; preprocess option is out of range: column=plan, option=max-levels, value=0, min=1, max=16384
            {'age': {'indicator': 1}}; preprocess option must be true or false: column=age, option=indicator
            """)
    void saysWhatIsWrongInPreprocess(String preprocess, String message) {
        assertThatThrownBy(() -> fit(texts("a", "b"), null, preprocess)).hasMessage(message);
    }

    private static FittedPreprocessing fit(ColumnStatistics label, @Nullable Task task, String preprocess) {
        Map<String, ColumnStatistics> features = new LinkedHashMap<>();
        features.put("age", statistics(ColumnType.FLOAT64, 1, 2, 3, 4, 5));
        features.put("plan", texts("a", "b", null, "a", "b"));
        try {
            return PreprocessingFit.fit(
                    "label", label, features, task, new ObjectMapper().readTree(preprocess.replace('\'', '"')));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(preprocess, e);
        }
    }
}
