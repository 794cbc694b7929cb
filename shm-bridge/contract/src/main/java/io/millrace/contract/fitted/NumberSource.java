package io.millrace.contract.fitted;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.RowReader;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.time.chrono.IsoChronology;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.time.temporal.ChronoField;
import java.util.Locale;

/** Reads a raw value that is not NULL as a number: boolean 0 or 1, date in days, timestamp in seconds. */
@FunctionalInterface
interface NumberSource {
    double MICROS_PER_SECOND = 1e6;
    double NANOS_PER_SECOND = 1e9;

    /** What PostgreSQL prints for a date or a timestamp, with a space or a T between the two; UTC without an offset. */
    DateTimeFormatter ISO = new DateTimeFormatterBuilder()
            .append(DateTimeFormatter.ISO_LOCAL_DATE)
            .optionalStart()
            .appendPattern("['T'][' ']")
            .append(DateTimeFormatter.ISO_LOCAL_TIME)
            .appendPattern("[XXX][X]")
            .optionalEnd()
            .parseDefaulting(ChronoField.HOUR_OF_DAY, 0)
            .parseDefaulting(ChronoField.MINUTE_OF_HOUR, 0)
            .parseDefaulting(ChronoField.OFFSET_SECONDS, 0)
            .toFormatter(Locale.ROOT)
            .withChronology(IsoChronology.INSTANCE)
            .withResolverStyle(ResolverStyle.STRICT);

    double read(RowReader row, int column);

    /**
     * The source of an input from a column of the rows to come.
     *
     * @throws ContractException {@link ErrorCode#WRONG_TYPE} naming the column and both types if the column cannot
     *     stand for the input
     */
    static NumberSource of(FittedColumn input, Column given) {
        ColumnType wanted = input.type();
        boolean fits = switch (given.type()) {
            case BOOLEAN, INT64, FLOAT64 -> wanted.isNumeric();
            case DATE, TIMESTAMP -> wanted == given.type();
            case TEXT -> true;
        };
        if (!fits) {
            throw wrongType(input, given.type());
        }
        return switch (given.type()) {
            case BOOLEAN -> (row, column) -> row.booleanValue(column) ? 1 : 0;
            case INT64, DATE -> RowReader::int64;
            case FLOAT64 -> RowReader::float64;
            case TIMESTAMP -> (row, column) -> row.int64(column) / MICROS_PER_SECOND;
            case TEXT -> wanted.isNumeric() ? onlyNull(input) : isoText(input);
        };
    }

    private static NumberSource onlyNull(FittedColumn input) {
        return (row, column) -> {
            throw wrongType(input, ColumnType.TEXT);
        };
    }

    private static NumberSource isoText(FittedColumn input) {
        boolean date = input.type() == ColumnType.DATE;
        return (row, column) -> {
            try {
                OffsetDateTime parsed = ISO.parse(row.text(column), OffsetDateTime::from);
                return date
                        ? parsed.toLocalDate().toEpochDay()
                        : parsed.toEpochSecond() + parsed.getNano() / NANOS_PER_SECOND;
            } catch (DateTimeException notIso) {
                // Without the cause: its message repeats the value.
                throw new ContractException(
                        ErrorCode.INVALID_VALUE,
                        "feature value must be an ISO 8601 " + input.type().text() + ": column=" + input.name());
            }
        };
    }

    static ContractException wrongType(FittedColumn input, ColumnType given) {
        return new ContractException(
                ErrorCode.WRONG_TYPE,
                "feature column has the wrong type: column=" + input.name() + ", type=" + given.text()
                        + ", expectedType=" + input.type().text());
    }
}
