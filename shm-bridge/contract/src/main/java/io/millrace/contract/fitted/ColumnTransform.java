package io.millrace.contract.fitted;

import io.millrace.contract.RowReader;
import java.util.concurrent.atomic.LongAdder;

/** One input column of a bound transform: reads its value and writes its features. Immutable; any thread. */
abstract class ColumnTransform {
    /**
     * Largest magnitude of a feature. Infinity and what float32 cannot hold become it, so that order is kept and a
     * model sees finite numbers; a margin below float32's own largest leaves room for a split point above it.
     */
    static final double LARGEST = 1e38;

    /** Index in the source's rows. */
    final int column;

    /** Index of the first feature in the vector. */
    final int at;

    ColumnTransform(int column, int at) {
        this.column = column;
        this.at = at;
    }

    abstract void apply(RowReader row, float[] out, int offset);

    static float feature(double value) {
        // NaN fails both comparisons and stays NaN.
        return value > LARGEST ? (float) LARGEST : value < -LARGEST ? (float) -LARGEST : (float) value;
    }

    static float flag(boolean missing) {
        return missing ? 1f : 0f;
    }

    /** A number as it is: neither imputed nor scaled. What trees get, and so the most frequent transform. */
    static final class Plain extends ColumnTransform {
        private final NumberSource source;

        Plain(int column, int at, NumberSource source) {
            super(column, at);
            this.source = source;
        }

        @Override
        void apply(RowReader row, float[] out, int offset) {
            out[offset + at] = row.isNull(column) ? Float.NaN : feature(source.read(row, column));
        }
    }

    /** A number, imputed and scaled. */
    static final class Numeric extends ColumnTransform {
        private final NumberSource source;
        private final double fill;
        private final Scaler scaler;
        private final boolean indicator;

        Numeric(int column, int at, NumberSource source, Imputer imputer, Scaler scaler) {
            super(column, at);
            this.source = source;
            this.fill = imputer.kind() == Imputer.Kind.NONE ? Double.NaN : imputer.value();
            this.scaler = scaler;
            this.indicator = imputer.indicator();
        }

        @Override
        void apply(RowReader row, float[] out, int offset) {
            double value = row.isNull(column) ? Double.NaN : source.read(row, column);
            boolean missing = Double.isNaN(value);
            out[offset + at] = feature(scaler.apply(missing ? fill : value));
            if (indicator) {
                out[offset + at + 1] = flag(missing);
            }
        }
    }

    /** The index of a level, scaled; or a 1 at the level's place. */
    static final class Leveled extends ColumnTransform {
        private static final int NO_LEVEL = -1;

        private final CodeSource source;
        private final LongAdder unseen;
        private final int fill;
        private final boolean pooled;
        private final int levelCount;
        private final boolean oneHot;
        private final Scaler scaler;
        private final boolean indicator;

        Leveled(int column, int at, CodeSource source, FittedColumn fitted, int fill, LongAdder unseen) {
            super(column, at);
            this.source = source;
            this.unseen = unseen;
            this.fill = fill;
            pooled = FittedColumn.pooled(fitted.encoder());
            levelCount = FittedColumn.levels(fitted.encoder()).size();
            oneHot = fitted.encoder() instanceof Encoder.OneHot;
            scaler = fitted.scaler();
            indicator = fitted.imputer().indicator();
        }

        @Override
        void apply(RowReader row, float[] out, int offset) {
            boolean missing = row.isNull(column);
            int code = missing ? fill : source.read(row, column);
            if (!missing && code == NO_LEVEL) {
                unseen.increment();
                code = pooled ? levelCount : NO_LEVEL;
            }
            int next = offset + at;
            if (oneHot) {
                int width = levelCount + (pooled ? 1 : 0);
                for (int level = 0; level < width; level++) {
                    out[next + level] = flag(level == code);
                }
                next += width;
            } else {
                boolean nothing = missing && code == NO_LEVEL;
                out[next] = feature(nothing ? Double.NaN : scaler.apply(code));
                next++;
            }
            if (indicator) {
                out[next] = flag(missing);
            }
        }
    }
}
