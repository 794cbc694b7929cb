package io.millrace.lake.column;

import io.millrace.contract.ColumnType;
import java.math.BigDecimal;
import org.apache.iceberg.types.Types;
import org.jspecify.annotations.Nullable;

/**
 * The values of one column in one batch. Which array holds them follows from the type: {@link #longs} for booleans (0 or 1), integers,
 * dates (days) and timestamps (microseconds); {@link #doubles} for every other number; {@link #texts} for text, and for numbers whose
 * exact text was asked for.
 *
 * <p>Arrays are reused by the next batch and longer than it. At a NULL the other arrays hold nothing of meaning.
 */
public final class ColumnVector {
    private static final double[] NO_DOUBLES = {};
    private static final long[] NO_LONGS = {};

    final boolean[] nulls;
    final long[] longs;
    final double[] doubles;
    final @Nullable String[] texts;
    final @Nullable BigDecimal[] decimals;

    private final Types.NestedField field;
    private final ColumnType type;

    /**
     * An empty vector.
     *
     * @param exact whether decimal numbers are also kept as they are, for keys and checksums
     */
    ColumnVector(Types.NestedField field, ColumnType type, int capacity, boolean exact) {
        this.field = field;
        this.type = type;
        this.nulls = new boolean[capacity];
        boolean floating = type == ColumnType.FLOAT64;
        boolean text = type == ColumnType.TEXT;
        this.doubles = floating ? new double[capacity] : NO_DOUBLES;
        this.longs = floating || text ? NO_LONGS : new long[capacity];
        boolean numericText = floating && field.type().typeId() == org.apache.iceberg.types.Type.TypeID.STRING;
        this.texts = new @Nullable String[text || (numericText && exact) ? capacity : 0];
        boolean decimal = field.type().typeId() == org.apache.iceberg.types.Type.TypeID.DECIMAL;
        this.decimals = new @Nullable BigDecimal[decimal && exact ? capacity : 0];
    }

    public Types.NestedField field() {
        return field;
    }

    public ColumnType type() {
        return type;
    }

    public boolean isNull(int row) {
        return nulls[row];
    }

    /** A boolean, integer, date or timestamp. */
    public long integer(int row) {
        return longs[row];
    }

    /** A floating point or decimal number, the latter rounded once. */
    public double floating(int row) {
        return doubles[row];
    }

    /** A text. */
    public String text(int row) {
        String text = texts[row];
        if (text == null) {
            throw new IllegalStateException("value is NULL: column=" + field.name());
        }
        return text;
    }

    /** A decimal number as stored; only of a vector that was opened exact. */
    public BigDecimal decimal(int row) {
        BigDecimal decimal = decimals[row];
        if (decimal == null) {
            throw new IllegalStateException("value is NULL: column=" + field.name());
        }
        return decimal;
    }

    /** Whether {@link #text} has the exact text of a number that is stored as text. */
    public boolean hasNumericText() {
        return type == ColumnType.FLOAT64 && texts.length > 0;
    }

    /** Whether {@link #decimal} has the exact number. */
    public boolean hasDecimal() {
        return decimals.length > 0;
    }

    /** A value that is equal to another exactly when the two are the same key; null for NULL. */
    @Nullable
    Object key(int row) {
        if (nulls[row]) {
            return null;
        }
        if (hasDecimal()) {
            return decimal(row);
        }
        if (texts.length > 0) {
            return text(row);
        }
        return type == ColumnType.FLOAT64 ? (Object) doubles[row] : (Object) longs[row];
    }
}
