package io.millrace.contract;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A row of boxed values; the typed call must match the value, as the contract says. */
public final class TestingRow implements RowReader {
    private final @Nullable Object[] values;

    private TestingRow(@Nullable Object[] values) {
        this.values = values;
    }

    /** Boolean, Long, Double, String or null. */
    public static TestingRow of(@Nullable Object... values) {
        return new TestingRow(values);
    }

    private <T> T value(int column, Class<T> type) {
        return type.cast(Objects.requireNonNull(values[column]));
    }

    @Override
    public boolean isNull(int column) {
        return values[column] == null;
    }

    @Override
    public boolean booleanValue(int column) {
        return value(column, Boolean.class);
    }

    @Override
    public long int64(int column) {
        return value(column, Long.class);
    }

    @Override
    public double float64(int column) {
        return value(column, Double.class);
    }

    @Override
    public String text(int column) {
        return value(column, String.class);
    }
}
