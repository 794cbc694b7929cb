package io.millrace.lake.statistics;

import io.millrace.contract.ColumnType;
import io.millrace.lake.column.ColumnBatches;
import io.millrace.lake.column.ColumnVector;
import io.millrace.lake.column.LiveRows;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one column of a set of rows. Numbers are counted in the unit of features: booleans as 0 and 1, dates in days,
 * timestamps in seconds. NaN and infinity are counted apart and are in no other number.
 *
 * <p>Threads: one writer; any number of readers after it.
 */
public final class ColumnStatistics {
    private static final double MICROS_PER_SECOND = 1e6;

    private final ColumnType type;
    private final Moments moments = new Moments();
    private final QuantileSketch quantiles = new QuantileSketch();
    private final NumberCounts numbers = new NumberCounts();
    private final TextCounts texts = new TextCounts();
    private @Nullable DistinctSketch distinct;
    private long rows;
    private long nulls;
    private long nans;
    private long infinities;

    public ColumnStatistics(ColumnType type) {
        this.type = type;
    }

    /** Adds the live rows of a batch. */
    public void add(ColumnVector vector, LiveRows batch) {
        if (type == ColumnType.TEXT) {
            addTexts(vector, batch);
        } else {
            addNumbers(vector, batch);
        }
    }

    /** Adds rows with a number, {@code times} of them. */
    public void add(double value, long times) {
        rows += times;
        if (Double.isNaN(value)) {
            nans += times;
            return;
        }
        if (Double.isInfinite(value)) {
            infinities += times;
            return;
        }
        double[] block = new double[(int) Math.min(ColumnBatches.BATCH_ROWS, times)];
        Arrays.fill(block, value);
        for (long left = times; left > 0; left -= block.length) {
            addFinite(block, (int) Math.min(left, block.length));
        }
    }

    /** Adds a row with a text. */
    public void add(String text) {
        rows++;
        texts.add(text);
        if (distinct != null) {
            distinct.add(text);
        } else if (texts.longTexts() > 0 || texts.size() >= TextCounts.DISTINCT_MAX) {
            startDistinct().add(text);
        }
    }

    /** Adds rows without a value. */
    public void addNulls(long count) {
        rows += count;
        nulls += count;
    }

    /** Adds what another has seen; the other stays as it is. */
    public void merge(ColumnStatistics other) {
        if (other.type != type) {
            throw new IllegalArgumentException("columns differ in type: type=" + type + ", other=" + other.type);
        }
        mergeDistinct(other);
        rows += other.rows;
        nulls += other.nulls;
        nans += other.nans;
        infinities += other.infinities;
        moments.merge(other.moments);
        quantiles.merge(other.quantiles);
        numbers.merge(other.numbers);
        texts.merge(other.texts);
        startDistinctWhenFull();
    }

    public ColumnType type() {
        return type;
    }

    /** Rows seen. */
    public long rows() {
        return rows;
    }

    /** Rows without a value. */
    public long nulls() {
        return nulls;
    }

    /** Rows whose number is NaN. */
    public long nans() {
        return nans;
    }

    /** Rows whose number is an infinity. */
    public long infinities() {
        return infinities;
    }

    /** Moments of the finite numbers. */
    public Moments moments() {
        return moments;
    }

    /** Quantiles of the finite numbers. */
    public QuantileSketch quantiles() {
        return quantiles;
    }

    /** How often each finite number occurs, while they are few. */
    public NumberCounts numbers() {
        return numbers;
    }

    /** How often each text occurs. */
    public TextCounts texts() {
        return texts;
    }

    /** Distinct values other than NULL, NaN and infinity; exact while they are few, then within about 2 percent. */
    public long distinct() {
        DistinctSketch sketch = distinct;
        if (sketch != null) {
            return sketch.estimate();
        }
        return type == ColumnType.TEXT ? texts.size() : numbers.distinct();
    }

    /** Approximate bytes held. */
    public long heldBytes() {
        return 512 + quantiles.heldBytes() + numbers.heldBytes() + texts.heldBytes();
    }

    private void addTexts(ColumnVector vector, LiveRows batch) {
        for (int i = 0; i < batch.liveCount(); i++) {
            int row = batch.row(i);
            if (vector.isNull(row)) {
                addNulls(1);
            } else {
                add(vector.text(row));
            }
        }
    }

    private void addNumbers(ColumnVector vector, LiveRows batch) {
        double[] finite = new double[batch.liveCount()];
        int length = 0;
        rows += batch.liveCount();
        for (int i = 0; i < batch.liveCount(); i++) {
            int row = batch.row(i);
            if (vector.isNull(row)) {
                nulls++;
                continue;
            }
            double value = number(vector, row);
            if (Double.isNaN(value)) {
                nans++;
            } else if (Double.isInfinite(value)) {
                infinities++;
            } else {
                finite[length++] = value;
            }
        }
        addFinite(finite, length);
    }

    private void addFinite(double[] finite, int length) {
        moments.add(finite, length);
        quantiles.add(finite, length);
        for (int i = 0; i < length; i++) {
            if (distinct != null) {
                distinct.add(finite[i]);
            } else if (!numbers.add(finite[i], 1)) {
                startDistinct().add(finite[i]);
            }
        }
    }

    private double number(ColumnVector vector, int row) {
        return switch (type) {
            case FLOAT64 -> vector.floating(row);
            case TIMESTAMP -> vector.integer(row) / MICROS_PER_SECOND;
            default -> vector.integer(row);
        };
    }

    private DistinctSketch startDistinct() {
        DistinctSketch sketch = new DistinctSketch();
        for (double value : numbers.values()) {
            sketch.add(value);
        }
        for (TextCounts.Level level : texts.levels()) {
            sketch.add(level.text());
        }
        distinct = sketch;
        return sketch;
    }

    private void mergeDistinct(ColumnStatistics other) {
        if (distinct == null && other.distinct == null) {
            return;
        }
        DistinctSketch mine = distinct == null ? startDistinct() : distinct;
        if (other.distinct != null) {
            mine.merge(other.distinct);
            return;
        }
        for (double value : other.numbers.values()) {
            mine.add(value);
        }
        for (TextCounts.Level level : other.texts.levels()) {
            mine.add(level.text());
        }
    }

    /** Two exact halves can be too many together; what each had counted is then still complete. */
    private void startDistinctWhenFull() {
        if (distinct == null && (!numbers.isExact() || texts.size() >= TextCounts.DISTINCT_MAX)) {
            startDistinct();
        }
    }
}
