package io.millrace.snapshot.source;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.data.Schema;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.iceberg.types.Types;
import org.jspecify.annotations.Nullable;

/**
 * Converts one column's values from the connector's form to Flink's internal form of the lake type.
 *
 * <p>A value that the lake type cannot hold (NaN in a {@code numeric(p,s)}, an infinite date) becomes NULL: the row is still a
 * row, and a missing value is what such a value is to a model.
 */
interface ValueConverter {
    /** For columns that have no source. */
    ValueConverter NOTHING = value -> null;

    /** Microseconds beyond which the connector writes PostgreSQL's infinity. */
    long INFINITE_MICROS = 9_223_371_331_200_000_000L;

    int INFINITE_DAYS = 2_147_483_391;

    @Nullable
    Object convert(Object value);

    /**
     * The converter of one column.
     *
     * @throws IllegalStateException naming the column if the source no longer has a type that fits
     */
    static ValueConverter of(String relation, Types.NestedField column, Schema source) {
        String logical = source.name() == null ? "" : source.name();
        return switch (column.type().typeId()) {
            case BOOLEAN -> value -> (Boolean) value;
            case INTEGER -> value -> value instanceof Number number ? (Integer) number.intValue() : null;
            case LONG -> value -> value instanceof Number number ? (Long) number.longValue() : null;
            case FLOAT -> value -> value instanceof Number number ? (Float) number.floatValue() : null;
            case DOUBLE -> value -> value instanceof Number number ? (Double) number.doubleValue() : null;
            case DECIMAL -> {
                Types.DecimalType type = (Types.DecimalType) column.type();
                yield value -> decimal(value, type.precision(), type.scale());
            }
            case STRING, UUID -> value -> StringData.fromString(value.toString());
            case DATE -> ValueConverter::date;
            case TIMESTAMP -> timestamp(relation, column, logical);
            default -> throw mismatch(relation, column, source);
        };
    }

    private static ValueConverter timestamp(String relation, Types.NestedField column, String logical) {
        return switch (logical) {
            case "io.debezium.time.Timestamp" ->
                value -> value instanceof Number number ? micros(Math.multiplyExact(number.longValue(), 1000L)) : null;
            case "io.debezium.time.MicroTimestamp" ->
                value -> value instanceof Number number ? micros(number.longValue()) : null;
            case "io.debezium.time.ZonedTimestamp" -> value -> zoned(value.toString());
            default ->
                throw new IllegalStateException("timestamp column must arrive as a timestamp: relation=" + relation
                        + ", column=" + column.name() + ", form=" + logical);
        };
    }

    private static @Nullable Object decimal(Object value, int precision, int scale) {
        try {
            BigDecimal exact = value instanceof BigDecimal decimal ? decimal : new BigDecimal(value.toString());
            return DecimalData.fromBigDecimal(exact.setScale(scale, RoundingMode.UNNECESSARY), precision, scale);
        } catch (ArithmeticException | NumberFormatException notThisType) {
            return null;
        }
    }

    private static @Nullable Object date(Object value) {
        return value instanceof Integer days && Math.abs((long) days) < INFINITE_DAYS ? days : null;
    }

    private static @Nullable Object micros(long micros) {
        if (micros >= INFINITE_MICROS || micros <= -INFINITE_MICROS) {
            return null;
        }
        return TimestampData.fromEpochMillis(Math.floorDiv(micros, 1000L), (int) Math.floorMod(micros, 1000L) * 1000);
    }

    private static @Nullable Object zoned(String text) {
        try {
            Instant instant = OffsetDateTime.parse(text).toInstant();
            long micros =
                    Math.addExact(Math.multiplyExact(instant.getEpochSecond(), 1_000_000L), instant.getNano() / 1000);
            return micros(micros);
        } catch (DateTimeParseException | ArithmeticException infinite) {
            return null;
        }
    }

    private static IllegalStateException mismatch(String relation, Types.NestedField column, Schema source) {
        return new IllegalStateException("column cannot be carried: relation=" + relation + ", column=" + column.name()
                + ", lakeType=" + column.type() + ", sourceType=" + source.type());
    }
}
