package io.millrace.lake;

import io.millrace.contract.ColumnType;
import io.millrace.lake.column.ColumnVector;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.time.LocalDate;
import java.util.List;
import org.apache.iceberg.types.Type;

/**
 * Values as PostgreSQL prints them by {@code value::text}, with ISO dates, shortest floating point numbers and time zone UTC: its
 * defaults. So a key read from the lake equals the key a query shows, and a row's checksum can be computed on both sides.
 */
final class PostgresText {
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final long SECONDS_PER_DAY = 86_400;
    private static final int DOUBLE_DIGITS_MAX = 17;
    private static final BigDecimal TWO = BigDecimal.valueOf(2);

    private PostgresText() {}

    /** Text of a value that is not NULL. */
    static String of(ColumnVector vector, int row) {
        return switch (vector.type()) {
            case BOOLEAN -> vector.integer(row) != 0 ? "true" : "false";
            case INT64 -> Long.toString(vector.integer(row));
            case FLOAT64 -> number(vector, row);
            case TEXT -> text(vector, row);
            case DATE -> date(vector.integer(row));
            case TIMESTAMP -> timestamp(vector, row);
        };
    }

    /** Text of {@code ROW(a, b, ..)}: commas between, quotes where a value needs them, nothing for NULL. */
    static String ofRow(List<ColumnVector> vectors, int row) {
        StringBuilder text = new StringBuilder("(");
        for (int i = 0; i < vectors.size(); i++) {
            if (i > 0) {
                text.append(',');
            }
            ColumnVector vector = vectors.get(i);
            if (!vector.isNull(row)) {
                // Inside a row a boolean is printed by its output function, which differs from its cast to text.
                String value = vector.type() == ColumnType.BOOLEAN
                        ? (vector.integer(row) != 0 ? "t" : "f")
                        : isPadded(vector) ? vector.text(row) : of(vector, row);
                appendQuoted(text, value);
            }
        }
        return text.append(')').toString();
    }

    private static void appendQuoted(StringBuilder text, String value) {
        boolean quoted = value.isEmpty();
        for (int i = 0; i < value.length() && !quoted; i++) {
            char c = value.charAt(i);
            quoted = c == '"' || c == '\\' || c == '(' || c == ')' || c == ',' || c == ' ' || (c >= 9 && c <= 13);
        }
        if (!quoted) {
            text.append(value);
            return;
        }
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                text.append(c);
            }
            text.append(c);
        }
        text.append('"');
    }

    private static String text(ColumnVector vector, int row) {
        String text = vector.text(row);
        if (!isPadded(vector)) {
            return text;
        }
        int end = text.length();
        while (end > 0 && text.charAt(end - 1) == ' ') {
            end--;
        }
        return text.substring(0, end);
    }

    /** Whether the column is of the blank-padded type {@code character(n)}, which loses its padding as text. */
    private static boolean isPadded(ColumnVector vector) {
        String doc = vector.field().doc();
        return doc != null && (doc.startsWith("character(") || doc.equals("bpchar") || doc.startsWith("bpchar("));
    }

    private static String number(ColumnVector vector, int row) {
        if (vector.hasDecimal()) {
            return vector.decimal(row).toPlainString();
        }
        if (vector.hasNumericText()) {
            return vector.text(row);
        }
        double value = vector.floating(row);
        return vector.field().type().typeId() == Type.TypeID.FLOAT ? real((float) value) : doublePrecision(value);
    }

    /** Text of a {@code double precision}: the fewest digits that give the same number back. */
    static String doublePrecision(double value) {
        if (Double.isNaN(value) || Double.isInfinite(value) || value == 0) {
            return special(value);
        }
        double magnitude = Math.abs(value);
        BigDecimal exact = new BigDecimal(magnitude);
        BigDecimal gapBelow = exact.subtract(new BigDecimal(Math.nextDown(magnitude)));
        BigDecimal gapAbove =
                magnitude == Double.MAX_VALUE ? gapBelow : new BigDecimal(Math.nextUp(magnitude)).subtract(exact);
        return (value < 0 ? "-" : "") + scientificOrPlain(shortest(exact, gapBelow, gapAbove), 15);
    }

    /** Text of a {@code real}. */
    static String real(float value) {
        if (Float.isNaN(value) || Float.isInfinite(value) || value == 0) {
            return special(value);
        }
        float magnitude = Math.abs(value);
        BigDecimal exact = new BigDecimal(magnitude);
        BigDecimal gapBelow = exact.subtract(new BigDecimal(Math.nextDown(magnitude)));
        BigDecimal gapAbove =
                magnitude == Float.MAX_VALUE ? gapBelow : new BigDecimal(Math.nextUp(magnitude)).subtract(exact);
        return (value < 0 ? "-" : "") + scientificOrPlain(shortest(exact, gapBelow, gapAbove), 6);
    }

    /**
     * The fewest digits that are nearer to a number than to its neighbours. Like PostgreSQL, and unlike a parser that rounds to even, it
     * does not take digits exactly half way to a neighbour; of two equally near it takes the even one.
     */
    private static BigDecimal shortest(BigDecimal value, BigDecimal gapBelow, BigDecimal gapAbove) {
        for (int digits = 1; digits <= DOUBLE_DIGITS_MAX; digits++) {
            BigDecimal rounded = value.round(new MathContext(digits, RoundingMode.HALF_EVEN));
            BigDecimal error = rounded.subtract(value);
            BigDecimal gap = error.signum() < 0 ? gapBelow : gapAbove;
            if (error.abs().multiply(TWO).compareTo(gap) < 0) {
                return rounded;
            }
        }
        throw new AssertionError("17 digits tell every double from its neighbours");
    }

    private static String special(double value) {
        if (Double.isNaN(value)) {
            return "NaN";
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "Infinity" : "-Infinity";
        }
        return 1 / value > 0 ? "0" : "-0";
    }

    private static String scientificOrPlain(BigDecimal value, int plainDigits) {
        BigDecimal digits = value.stripTrailingZeros();
        int exponent = digits.precision() - digits.scale() - 1;
        if (exponent >= -4 && exponent < plainDigits) {
            return digits.toPlainString();
        }
        String unscaled = digits.unscaledValue().toString();
        StringBuilder text = new StringBuilder().append(unscaled.charAt(0));
        if (unscaled.length() > 1) {
            text.append('.').append(unscaled, 1, unscaled.length());
        }
        text.append('e').append(exponent < 0 ? '-' : '+');
        int magnitude = Math.abs(exponent);
        return text.append(magnitude < 10 ? "0" : "").append(magnitude).toString();
    }

    private static String date(long days) {
        LocalDate date = LocalDate.ofEpochDay(days);
        int year = date.getYear();
        // There is no year 0: the year before 1 is 1 BC.
        String text =
                String.format("%04d-%02d-%02d", year > 0 ? year : 1 - year, date.getMonthValue(), date.getDayOfMonth());
        return year > 0 ? text : text + " BC";
    }

    private static String timestamp(ColumnVector vector, int row) {
        long micros = vector.integer(row);
        long seconds = Math.floorDiv(micros, MICROS_PER_SECOND);
        long fraction = Math.floorMod(micros, MICROS_PER_SECOND);
        String date = date(Math.floorDiv(seconds, SECONDS_PER_DAY));
        boolean before = date.endsWith(" BC");
        long second = Math.floorMod(seconds, SECONDS_PER_DAY);
        StringBuilder text = new StringBuilder(before ? date.substring(0, date.length() - 3) : date)
                .append(String.format(" %02d:%02d:%02d", second / 3600, second / 60 % 60, second % 60));
        if (fraction != 0) {
            String digits = String.format("%06d", fraction);
            int end = digits.length();
            while (digits.charAt(end - 1) == '0') {
                end--;
            }
            text.append('.').append(digits, 0, end);
        }
        boolean zoned =
                ((org.apache.iceberg.types.Types.TimestampType) vector.field().type()).shouldAdjustToUTC();
        return text.append(zoned ? "+00" : "").append(before ? " BC" : "").toString();
    }
}
