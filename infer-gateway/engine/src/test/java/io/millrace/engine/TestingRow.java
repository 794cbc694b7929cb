package io.millrace.engine;

import io.millrace.contract.RowReader;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A row of plain values: Boolean, Long (also dates, in days), Double, String, or null.
 *
 * @param values by position
 */
public record TestingRow(List<@Nullable Object> values) implements RowReader {
    /** A row of these values. */
    public static TestingRow of(@Nullable Object... values) {
        return new TestingRow(Collections.unmodifiableList(Arrays.asList(values)));
    }

    @Override
    public boolean isNull(int column) {
        return values.get(column) == null;
    }

    @Override
    public boolean booleanValue(int column) {
        return (Boolean) present(column);
    }

    @Override
    public long int64(int column) {
        return (Long) present(column);
    }

    @Override
    public double float64(int column) {
        return (Double) present(column);
    }

    @Override
    public String text(int column) {
        return (String) present(column);
    }

    private Object present(int column) {
        Object value = values.get(column);
        if (value == null) {
            throw new IllegalStateException("value must not be null: column=" + column);
        }
        return value;
    }
}
