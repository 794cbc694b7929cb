package io.millrace.snapshot.source;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.Calendar;
import java.util.GregorianCalendar;
import java.util.Locale;
import java.util.TimeZone;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.data.Schema;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.iceberg.types.Type;
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

    /** Julian day 0, where PostgreSQL's dates begin; the connector writes infinity as days before it. */
    int FIRST_DAY = -2_440_588;

    String MILLIS = "io.debezium.time.Timestamp";
    String MICROS = "io.debezium.time.MicroTimestamp";
    String ZONED = "io.debezium.time.ZonedTimestamp";

    long DAY_MILLIS = 86_400_000;

    /** 15 October 1582, 00:00 UTC. */
    long GREGORIAN_MILLIS = -12_219_292_800_000L;

    @Nullable
    Object convert(Object value);

    /**
     * The converter of one column.
     *
     * @param read whether the values were read from the table itself, not from the log
     * @throws SchemaMismatchException naming the column if the source no longer has a type that fits
     */
    static ValueConverter of(String relation, Types.NestedField column, Schema source, boolean read) {
        String logical = source.name() == null ? "" : source.name();
        if (!fits(column.type().typeId(), source.type(), logical)) {
            throw mismatch(relation, column, source);
        }
        return switch (column.type().typeId()) {
            case BOOLEAN -> value -> (Boolean) value;
            case INTEGER -> value -> value instanceof Number number ? (Integer) number.intValue() : null;
            case LONG -> value -> value instanceof Number number ? (Long) number.longValue() : null;
            case FLOAT -> value -> value instanceof Number number ? (Float) number.floatValue() : null;
            case DOUBLE -> value -> value instanceof Number number ? (Double) number.doubleValue() : null;
            case DECIMAL -> {
                Types.DecimalType type = (Types.DecimalType) column.type();
                yield value -> decimal(relation, column, value, type);
            }
            case STRING, UUID -> value -> StringData.fromString(value.toString());
            case DATE -> ValueConverter::date;
            case TIMESTAMP -> timestamp(logical, read);
            default -> throw mismatch(relation, column, source);
        };
    }

    private static boolean fits(Type.TypeID lake, Schema.Type source, String logical) {
        boolean plain = logical.isEmpty();
        return switch (lake) {
            case BOOLEAN -> source == Schema.Type.BOOLEAN;
            case INTEGER -> plain && (source == Schema.Type.INT16 || source == Schema.Type.INT32);
            case LONG ->
                plain && (source == Schema.Type.INT16 || source == Schema.Type.INT32 || source == Schema.Type.INT64);
            case FLOAT -> source == Schema.Type.FLOAT32;
            case DOUBLE -> source == Schema.Type.FLOAT32 || source == Schema.Type.FLOAT64;
            case DECIMAL -> plain && source == Schema.Type.STRING;
            case STRING, UUID -> source == Schema.Type.STRING && !logical.equals(ZONED);
            case DATE -> logical.equals("io.debezium.time.Date");
            case TIMESTAMP -> logical.equals(MILLIS) || logical.equals(MICROS) || logical.equals(ZONED);
            default -> false;
        };
    }

    private static ValueConverter timestamp(String logical, boolean read) {
        return switch (logical) {
            case MILLIS ->
                value -> value instanceof Number number
                        ? micros(Math.multiplyExact(number.longValue(), 1000L), read)
                        : null;
            case MICROS -> value -> value instanceof Number number ? micros(number.longValue(), read) : null;
            default -> value -> zoned(value.toString(), read);
        };
    }

    private static @Nullable Object decimal(
            String relation, Types.NestedField column, Object value, Types.DecimalType type) {
        BigDecimal exact;
        try {
            exact = new BigDecimal(value.toString());
        } catch (NumberFormatException notANumber) {
            return null;
        }
        try {
            BigDecimal scaled = exact.setScale(type.scale(), RoundingMode.UNNECESSARY);
            if (scaled.precision() <= type.precision()) {
                return DecimalData.fromBigDecimal(scaled, type.precision(), type.scale());
            }
        } catch (ArithmeticException moreDigits) {
            // Falls through: the source's type has become wider.
        }
        throw new SchemaMismatchException("number must fit its column: relation=" + relation + ", column="
                + column.name() + ", lakeType=" + type);
    }

    private static @Nullable Object date(Object value) {
        return value instanceof Integer days && days >= FIRST_DAY ? days : null;
    }

    private static @Nullable Object micros(long micros, boolean read) {
        if (micros >= INFINITE_MICROS || micros <= -INFINITE_MICROS) {
            return null;
        }
        long millis = Math.floorDiv(micros, 1000L);
        int nanos = (int) Math.floorMod(micros, 1000L) * 1000;
        return TimestampData.fromEpochMillis(read ? proleptic(millis) : millis, nanos);
    }

    /**
     * Rows read from a table come through {@code java.sql.Timestamp}, which counts days before 15 October 1582 by the Julian
     * calendar; the log, PostgreSQL and the lake use the Gregorian calendar for all days.
     */
    private static long proleptic(long millis) {
        if (millis >= GREGORIAN_MILLIS) {
            return millis;
        }
        GregorianCalendar julian = new GregorianCalendar(TimeZone.getTimeZone(ZoneOffset.UTC), Locale.ROOT);
        julian.setTimeInMillis(millis);
        int year = julian.get(Calendar.ERA) == GregorianCalendar.BC
                ? 1 - julian.get(Calendar.YEAR)
                : julian.get(Calendar.YEAR);
        LocalDate day = LocalDate.of(year, julian.get(Calendar.MONTH) + 1, julian.get(Calendar.DAY_OF_MONTH));
        return Math.multiplyExact(day.toEpochDay(), DAY_MILLIS) + Math.floorMod(millis, DAY_MILLIS);
    }

    private static @Nullable Object zoned(String text, boolean read) {
        try {
            Instant instant = OffsetDateTime.parse(text).toInstant();
            long micros =
                    Math.addExact(Math.multiplyExact(instant.getEpochSecond(), 1_000_000L), instant.getNano() / 1000);
            return micros(micros, read);
        } catch (DateTimeParseException | ArithmeticException infinite) {
            return null;
        }
    }

    private static SchemaMismatchException mismatch(String relation, Types.NestedField column, Schema source) {
        return new SchemaMismatchException("column must fit the lake: relation=" + relation + ", column="
                + column.name() + ", lakeType=" + column.type() + ", sourceType=" + source.type()
                + (source.name() == null ? "" : " " + source.name()));
    }
}
