package io.millrace.contract.fitted;

import static io.millrace.contract.fitted.TestingFitted.apply;
import static io.millrace.contract.fitted.TestingFitted.number;
import static io.millrace.contract.fitted.TestingFitted.text;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.contract.ColumnType;
import io.millrace.contract.TextLevels;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The transform against the numbers of scikit-learn 1.9.1, recorded in {@code sklearn-golden.json}. */
final class SklearnGoldenTest {
    private static final JsonNode GOLDEN = golden();

    private static JsonNode golden() {
        try {
            return new ObjectMapper()
                    .readTree(Path.of("src/test/resources/sklearn-golden.json").toFile());
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }

    /** Compares the features of each value with a recorded matrix, in the float32 both end in. */
    private static void check(JsonNode expected, FittedColumn column, @Nullable Object... values) {
        assertThat(expected.size()).isEqualTo(values.length);
        for (int row = 0; row < values.length; row++) {
            assertThat(apply(column, values[row])).as("row %s", row).isEqualTo(floats(expected.get(row)));
        }
    }

    private static float[] floats(JsonNode row) {
        float[] values = new float[row.size()];
        for (int index = 0; index < values.length; index++) {
            values[index] =
                    row.get(index).isNull() ? Float.NaN : (float) row.get(index).doubleValue();
        }
        return values;
    }

    private static FittedColumn scaled(Scaler.Kind kind, double center, double scale) {
        return number("x", Imputer.none(), new Scaler(kind, center, scale));
    }

    private static FittedColumn standard(JsonNode golden) {
        return scaled(
                Scaler.Kind.STANDARD,
                golden.get("mean").get(0).doubleValue(),
                golden.get("scale").get(0).doubleValue());
    }

    @Test
    void standardScaler() {
        JsonNode scalers = GOLDEN.get("scalers");
        JsonNode plain = scalers.get("[1,2,3,4,nan]");
        check(plain.get("out"), standard(plain), 1.0, 2.0, 3.0, 4.0, null);
        check(plain.get("out"), standard(plain), 1.0, 2.0, 3.0, 4.0, Double.NaN);
        check(scalers.get("const7").get("out"), scaled(Scaler.Kind.STANDARD, 7, 1), 7.0, 8.0);
        check(scalers.get("const0.1").get("out"), standard(scalers.get("const0.1")), 0.1, 0.2);
        JsonNode large = scalers.get("1e9+0..3");
        check(large.get("out"), standard(large), 1e9, 1e9 + 3);
    }

    @Test
    void otherScalers() {
        JsonNode scalers = GOLDEN.get("scalers");
        check(
                scalers.get("minmax[10,20,30] on 5,10,25,40,nan"),
                scaled(Scaler.Kind.MIN_MAX, 10, 20),
                5.0,
                10.0,
                25.0,
                40.0,
                null);
        check(scalers.get("minmax const"), scaled(Scaler.Kind.MIN_MAX, 7, 1), 7.0, 8.0);
        check(scalers.get("maxabs[-4,2] on -4,2,8"), scaled(Scaler.Kind.MAX_ABS, 0, 4), -4.0, 2.0, 8.0);
        check(scalers.get("maxabs zeros"), scaled(Scaler.Kind.MAX_ABS, 0, 1), 3.0);
        JsonNode robust = scalers.get("robust[1,2,3,4,100]");
        check(
                robust.get("out"),
                scaled(
                        Scaler.Kind.ROBUST,
                        robust.get("center").get(0).doubleValue(),
                        robust.get("scale").get(0).doubleValue()),
                1.0,
                100.0);
    }

    @Test
    void imputerWithIndicator() {
        JsonNode expected = GOLDEN.get("SimpleImputer").get("add_indicator");
        FittedPreprocessing fitted = TestingFitted.of(
                number("a", Imputer.of(Imputer.Kind.MEAN, 2).withIndicator(), Scaler.none()),
                number("b", Imputer.of(Imputer.Kind.MEAN, 3).withIndicator(), Scaler.none()));
        @Nullable Double[][] rows = {{1.0, null}, {null, 2.0}, {3.0, 4.0}};
        for (int row = 0; row < rows.length; row++) {
            float[] out = apply(fitted, fitted.inputs().columns(), rows[row][0], rows[row][1]);
            // scikit-learn puts the indicators behind all features, Millrace each behind its own.
            assertThat(new float[] {out[0], out[2], out[1], out[3]}).isEqualTo(floats(expected.get(row)));
        }
    }

    @Test
    void oneHotEncoder() {
        JsonNode golden = GOLDEN.get("OneHotEncoder");
        FittedColumn ab = text("t", new Encoder.OneHot(List.of("a", "b"), false));
        check(golden.get("ignore z"), ab, "z", "a", "b");
        check(golden.get("  -> value"), ab, (Object) null);
        check(
                golden.get("min_frequency=6 a5 b20 c10 d3").get("a,b,z"),
                text("t", new Encoder.OneHot(List.of("b", "c"), true)),
                "a",
                "b",
                "z");
        check(
                golden.get("max_categories=2").get("out a,b,c,d,z"),
                text("t", new Encoder.OneHot(List.of("b"), true)),
                "a",
                "b",
                "c",
                "d",
                "z");
    }

    @Test
    void ordinalEncoder() {
        JsonNode golden = GOLDEN.get("OrdinalEncoder");
        FittedColumn explicit = text("t", new Encoder.Ordinal(List.of("low", "mid", "high"), false));
        check(golden.get("explicit+unknown -1"), explicit, "low", "high", "z");
        check(golden.get("nan stays nan"), text("t", new Encoder.Ordinal(List.of("a", "b"), false)), "a", "b", null);
        // Deviation: rare and unseen levels share the last code, since the rare ones are not kept; scikit-learn gives
        // an unseen one -1.
        FittedColumn pooled = text("t", new Encoder.Ordinal(List.of("b", "c"), true));
        JsonNode expected = golden.get("max_categories=3 a,b,c,d,z");
        for (int row = 0; row < 4; row++) {
            assertThat(apply(pooled, List.of("a", "b", "c", "d").get(row))).isEqualTo(floats(expected.get(row)));
        }
        assertThat(expected.get(4).get(0).intValue()).isEqualTo(-1);
        assertThat(apply(pooled, "z")).containsExactly(2f);
    }

    @Test
    void ordersOfLevels() {
        JsonNode golden = GOLDEN.get("OneHotEncoder");
        assertThat(sorted("b", "a", "B", "é")).isEqualTo(texts(golden.get("category order b,a,B,é")));
        assertThat(sorted("1", "2", "10")).isEqualTo(texts(golden.get("text-number order")));
        assertThat(sorted("a", " ", "")).isEqualTo(texts(golden.get("empty/space")));
        assertThat(sorted("low", "mid", "high"))
                .isEqualTo(texts(GOLDEN.get("OrdinalEncoder").get("auto order")));
        assertThat(TargetMapping.classification("y", ColumnType.INT64, List.of("10", "1", "2"))
                        .labels())
                .isEqualTo(texts(golden.get("int categories order")));
    }

    private static List<String> sorted(String... levels) {
        List<String> sorted = new ArrayList<>(List.of(levels));
        sorted.sort(TextLevels.ORDER);
        return sorted;
    }

    private static List<String> texts(JsonNode node) {
        List<String> texts = new ArrayList<>();
        node.forEach(element -> texts.add(element.asText()));
        return texts;
    }

    @Test
    void columnTransformer() {
        JsonNode expected = GOLDEN.get("ColumnTransformer").get("out");
        FittedPreprocessing fitted = TestingFitted.of(
                text("t", new Encoder.OneHot(List.of("x", "y"), false)),
                number("a", Imputer.none(), new Scaler(Scaler.Kind.STANDARD, 2, Math.sqrt(2.0 / 3))));
        String[] texts = {"x", "y", "x"};
        for (int row = 0; row < texts.length; row++) {
            assertThat(apply(fitted, fitted.inputs().columns(), texts[row], row + 1.0))
                    .isEqualTo(floats(expected.get(row)));
        }
    }
}
