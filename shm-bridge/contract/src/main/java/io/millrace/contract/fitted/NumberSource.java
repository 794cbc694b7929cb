package io.millrace.contract.fitted;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.RowReader;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;

/** Reads a raw value that is not NULL as a number: boolean 0 or 1, date in days, timestamp in seconds. */
@FunctionalInterface
interface NumberSource {
    double MICROS_PER_SECOND = 1e6;

    /** What PostgreSQL prints for a date or a timestamp, with a space or a T between the two. */
    DateTimeFormatter ISO = new DateTimeFormatterBuilder()
            .append(DateTimeFormatter.ISO_LOCAL_DATE)
            .optionalStart()
            .appendPattern("[ ]['T']")
            .append(DateTimeFormatter.ISO_LOCAL_TIME)
            .optionalStart()
            .appendOffset("+HH:mm", "Z")
            .optionalEnd()
            .optionalStart()
            .appendOffset("+HH", "Z")
            .optionalEnd()
            .optionalEnd()
            .parseDefaulting(ChronoField.SECOND_OF_DAY, 0)
            .toFormatter();

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
                TemporalAccessor parsed = ISO.parse(row.text(column));
                return date ? LocalDate.from(parsed).toEpochDay() : seconds(parsed);
            } catch (DateTimeParseException | ArithmeticException notIso) {
                throw new ContractException(
                        ErrorCode.INVALID_VALUE,
                        "feature value must be an ISO 8601 " + input.type().text() + ": column=" + input.name(),
                        notIso);
            }
        };
    }

    private static double seconds(TemporalAccessor parsed) {
        LocalDateTime local = LocalDateTime.from(parsed);
        ZoneOffset offset = parsed.isSupported(ChronoField.OFFSET_SECONDS) ? ZoneOffset.from(parsed) : ZoneOffset.UTC;
        OffsetDateTime instant = local.atOffset(offset);
        return instant.toEpochSecond() + instant.getNano() / 1e9;
    }

    private static ContractException wrongType(FittedColumn input, ColumnType given) {
        return new ContractException(
                ErrorCode.WRONG_TYPE,
                "feature column has the wrong type: column=" + input.name() + ", type=" + given.text()
                        + ", expectedType=" + input.type().text());
    }
}
