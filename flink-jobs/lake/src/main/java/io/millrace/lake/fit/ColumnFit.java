package io.millrace.lake.fit;

import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.fitted.Encoder;
import io.millrace.contract.fitted.FittedColumn;
import io.millrace.contract.fitted.Imputer;
import io.millrace.contract.fitted.Scaler;
import io.millrace.lake.statistics.ColumnStatistics;
import io.millrace.lake.statistics.Moments;
import io.millrace.lake.statistics.NumberCounts;
import io.millrace.lake.statistics.QuantileSketch;
import io.millrace.lake.statistics.TextCounts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/*
 * The parts are fitted as scikit-learn fits a pipeline: the scaler sees what the imputer filled in, and a constant that stands for NULL
 * is a level like any other. Deviations: a column without any value is filled with 0 (scikit-learn drops it, and the features shift);
 * infinity is left out of every parameter (scikit-learn refuses it); NULL of a one-hot column is no level of its own.
 */

/** Fits one column. */
final class ColumnFit {
    private static final double TINY_RANGE = 10 * Math.ulp(1.0);

    private ColumnFit() {}

    static FittedColumn fit(String name, ColumnStatistics statistics, Options options) {
        return options.encode() == Options.Encode.NONE
                ? number(name, statistics, options)
                : leveled(name, statistics, options);
    }

    private static FittedColumn number(String name, ColumnStatistics statistics, Options options) {
        Imputer imputer = numberImputer(name, statistics, options);
        Scaler scaler = Scaler.none();
        if (options.scale() != Scaler.Kind.NONE) {
            long filled = imputer.kind() == Imputer.Kind.NONE ? 0 : statistics.nulls() + statistics.nans();
            scaler = scaler(options.scale(), statistics, imputer.value(), filled);
        }
        return new FittedColumn(name, statistics.type(), indicated(imputer, options), Encoder.none(), scaler);
    }

    private static Imputer numberImputer(String name, ColumnStatistics statistics, Options options) {
        boolean empty = statistics.moments().count() == 0;
        return switch (options.impute()) {
            case NONE -> Imputer.none();
            case MEAN -> Imputer.of(Imputer.Kind.MEAN, statistics.moments().mean());
            case MEDIAN ->
                Imputer.of(
                        Imputer.Kind.MEDIAN, empty ? 0 : statistics.quantiles().quantile(0.5));
            case MOST_FREQUENT ->
                Imputer.of(
                        Imputer.Kind.MOST_FREQUENT,
                        empty ? 0 : mostFrequent(levels(name, statistics)).value());
            case CONSTANT -> Imputer.of(Imputer.Kind.CONSTANT, options.constant());
        };
    }

    private static Scaler scaler(Scaler.Kind kind, ColumnStatistics statistics, double fill, long filled) {
        Moments moments = statistics.moments().copy();
        moments.add(fill, filled);
        if (moments.count() == 0) {
            return new Scaler(kind, 0, 1);
        }
        return switch (kind) {
            case NONE -> Scaler.none();
            case STANDARD -> standard(moments);
            case MIN_MAX -> new Scaler(kind, moments.min(), range(moments.max() - moments.min()));
            case MAX_ABS -> new Scaler(kind, 0, range(Math.max(Math.abs(moments.min()), Math.abs(moments.max()))));
            case ROBUST -> robust(statistics.quantiles(), fill, filled);
        };
    }

    private static Scaler standard(Moments moments) {
        double scale = moments.isConstant() ? 1 : Math.sqrt(moments.variance());
        return new Scaler(Scaler.Kind.STANDARD, moments.mean(), scale);
    }

    private static Scaler robust(QuantileSketch values, double fill, long filled) {
        QuantileSketch all = new QuantileSketch();
        all.merge(values);
        double[] block = new double[(int) Math.min(filled, 4_096)];
        Arrays.fill(block, fill);
        for (long left = filled; left > 0; left -= block.length) {
            all.add(block, (int) Math.min(left, block.length));
        }
        double range = all.quantile(0.75) - all.quantile(0.25);
        return new Scaler(Scaler.Kind.ROBUST, all.quantile(0.5), range(range));
    }

    /** A range that is nothing but rounding divides nothing. */
    private static double range(double range) {
        return range < TINY_RANGE ? 1 : range;
    }

    private static FittedColumn leveled(String name, ColumnStatistics statistics, Options options) {
        List<CountedLevel> levels = new ArrayList<>(levels(name, statistics));
        long others = statistics.rows() - statistics.nulls();
        for (CountedLevel level : levels) {
            others -= level.count();
        }
        CountedLevel fill = fill(statistics, options, levels);
        if (fill != null) {
            add(levels, fill, statistics.nulls());
        }
        LevelChoice choice =
                LevelChoice.of(levels, statistics.rows(), options.minFrequency(), options.maxLevels(), others > 0);
        Encoder encoder = options.encode() == Options.Encode.ONE_HOT
                ? new Encoder.OneHot(choice.levels(), choice.pooled())
                : new Encoder.Ordinal(choice.levels(), choice.pooled());
        Imputer imputer = Imputer.none();
        if (fill != null) {
            imputer = statistics.type() == ColumnType.TEXT
                    ? Imputer.of(options.impute(), fill.text())
                    : Imputer.of(options.impute(), fill.value());
        }
        Scaler scaler = options.scale() == Scaler.Kind.NONE
                ? Scaler.none()
                : codeScaler(options.scale(), levels, choice, others);
        return new FittedColumn(name, statistics.type(), indicated(imputer, options), encoder, scaler);
    }

    private static @Nullable CountedLevel fill(
            ColumnStatistics statistics, Options options, List<CountedLevel> levels) {
        return switch (options.impute()) {
            case MOST_FREQUENT -> levels.isEmpty() ? null : mostFrequent(levels);
            case CONSTANT -> {
                String text = options.constantLevel();
                yield text == null
                        ? new CountedLevel(
                                LevelChoice.text(statistics.type(), options.constant()), options.constant(), 0)
                        : new CountedLevel(text, Double.NaN, 0);
            }
            default -> null;
        };
    }

    /** Counts what NULL becomes; a level that is new keeps the order. */
    private static void add(List<CountedLevel> levels, CountedLevel fill, long nulls) {
        for (int i = 0; i < levels.size(); i++) {
            CountedLevel level = levels.get(i);
            if (level.text().equals(fill.text())) {
                levels.set(i, new CountedLevel(level.text(), level.value(), level.count() + nulls));
                return;
            }
        }
        if (nulls > 0) {
            levels.add(new CountedLevel(fill.text(), fill.value(), nulls));
            levels.sort(CountedLevel.ORDER);
        }
    }

    private static Scaler codeScaler(Scaler.Kind kind, List<CountedLevel> levels, LevelChoice choice, long others) {
        ColumnStatistics codes = new ColumnStatistics(ColumnType.INT64);
        long pooled = others;
        for (CountedLevel level : levels) {
            int code = choice.levels().indexOf(level.text());
            if (code < 0) {
                pooled += level.count();
            } else {
                codes.add(code, level.count());
            }
        }
        codes.add(choice.levels().size(), pooled);
        return scaler(kind, codes, 0, 0);
    }

    private static Imputer indicated(Imputer imputer, Options options) {
        return options.indicator() ? imputer.withIndicator() : imputer;
    }

    private static CountedLevel mostFrequent(List<CountedLevel> levels) {
        CountedLevel most = levels.get(0);
        for (CountedLevel level : levels) {
            if (level.count() > most.count()) {
                most = level;
            }
        }
        return most;
    }

    /** The levels of a column in order. */
    private static List<CountedLevel> levels(String name, ColumnStatistics statistics) {
        List<CountedLevel> levels = new ArrayList<>();
        if (statistics.type() == ColumnType.TEXT) {
            for (TextCounts.Level level : statistics.texts().levels()) {
                levels.add(new CountedLevel(level.text(), Double.NaN, level.count()));
            }
            return levels;
        }
        NumberCounts numbers = statistics.numbers();
        if (!numbers.isExact()) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "column has too many distinct numbers for levels: column=" + name + ", distinct="
                            + statistics.distinct() + ", max=" + NumberCounts.DISTINCT_MAX);
        }
        for (double value : numbers.values()) {
            levels.add(new CountedLevel(LevelChoice.text(statistics.type(), value), value, numbers.count(value)));
        }
        return levels;
    }
}
