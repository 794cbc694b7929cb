package io.millrace.contract.fitted;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.TestingRow;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Small preprocessings and one-row transforms. */
final class TestingFitted {
    static final TargetMapping TARGET = TargetMapping.classification("churn", ColumnType.TEXT, List.of("yes", "no"));

    private TestingFitted() {}

    static FittedColumn number(String name, Imputer imputer, Scaler scaler) {
        return new FittedColumn(name, ColumnType.FLOAT64, imputer, Encoder.none(), scaler);
    }

    static FittedColumn text(String name, Encoder encoder) {
        return new FittedColumn(name, ColumnType.TEXT, Imputer.none(), encoder, Scaler.none());
    }

    static FittedPreprocessing of(FittedColumn... columns) {
        return new FittedPreprocessing(List.of(columns), TARGET, new FittedCounts(10, 1));
    }

    /** Every type, imputer, encoder and scaler. */
    static FittedPreprocessing everything() {
        return of(
                number(
                        "a",
                        Imputer.of(Imputer.Kind.MEDIAN, 2.5).withIndicator(),
                        new Scaler(Scaler.Kind.STANDARD, 2.5, 1.118033988749895)),
                number("b", Imputer.of(Imputer.Kind.MEAN, -0.1), new Scaler(Scaler.Kind.MIN_MAX, 10, 20)),
                number("\"c.d\" \uD83D\uDE00", Imputer.none(), new Scaler(Scaler.Kind.ROBUST, 3, 2)),
                new FittedColumn(
                        "i", ColumnType.INT64, Imputer.none(), Encoder.none(), new Scaler(Scaler.Kind.MAX_ABS, 0, 4)),
                new FittedColumn(
                        "zip",
                        ColumnType.INT64,
                        Imputer.of(Imputer.Kind.MOST_FREQUENT, 10),
                        new Encoder.OneHot(List.of("1", "2", "10"), false),
                        Scaler.none()),
                new FittedColumn("flag", ColumnType.BOOLEAN, Imputer.none(), Encoder.none(), Scaler.none()),
                new FittedColumn(
                        "flag2",
                        ColumnType.BOOLEAN,
                        Imputer.none(),
                        new Encoder.Ordinal(List.of("false", "true"), false),
                        Scaler.none()),
                text("city", new Encoder.Ordinal(List.of("Köln", "München"), false)),
                new FittedColumn(
                        "plan",
                        ColumnType.TEXT,
                        Imputer.of(Imputer.Kind.CONSTANT, "none"),
                        new Encoder.OneHot(List.of("basic", "none"), true),
                        Scaler.none()),
                new FittedColumn(
                        "day", ColumnType.DATE, Imputer.of(Imputer.Kind.CONSTANT, 0), Encoder.none(), Scaler.none()),
                new FittedColumn("at", ColumnType.TIMESTAMP, Imputer.none(), Encoder.none(), Scaler.none()));
    }

    static List<Column> columns(ColumnType... types) {
        return Arrays.stream(types).map(type -> new Column("", type, true)).toList();
    }

    static float[] apply(FittedPreprocessing fitted, List<Column> source, @Nullable Object... values) {
        float[] out = new float[fitted.width()];
        fitted.bind(source).apply(TestingRow.of(values), out, 0);
        return out;
    }

    /** Features of one value of a preprocessing with one column. */
    static float[] apply(FittedColumn column, @Nullable Object value) {
        return apply(of(column), columns(column.type()), value);
    }
}
