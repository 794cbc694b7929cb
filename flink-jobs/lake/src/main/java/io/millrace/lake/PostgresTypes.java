package io.millrace.lake;

import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.lake.column.FieldTypes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.iceberg.MetadataColumns;
import org.apache.iceberg.Schema;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.jspecify.annotations.Nullable;

/**
 * The types of source columns in the lake, and how a lake column's values travel in a row.
 *
 * <p>Each lake column keeps its PostgreSQL type as its documentation: a {@code numeric} without a precision is stored as its exact
 * text and only the documentation tells that it is a number. A uuid is stored as its text, which every engine reads the same way.
 */
public final class PostgresTypes {
    /** The column every lake table has besides those of its source: WAL position of the change that wrote the row. */
    public static final String VERSION_COLUMN = "_ver";

    private static final int DECIMAL_PRECISION_MAX = 38;
    private static final Pattern NUMERIC = FieldTypes.NUMERIC;
    private static final Pattern TEXT_WITH_LENGTH =
            Pattern.compile("(?:character varying|character|varchar|char|bpchar)(?:\\(\\d+\\))?");
    private static final Pattern TIMESTAMP = Pattern.compile("timestamp(?:\\(\\d\\))? (with|without) time zone");
    private static final Pattern CITEXT = Pattern.compile("(?:.*\\.)?citext");

    private static final Map<String, Type> FIXED = Map.of(
            "smallint", Types.IntegerType.get(),
            "integer", Types.IntegerType.get(),
            "bigint", Types.LongType.get(),
            "real", Types.FloatType.get(),
            "double precision", Types.DoubleType.get(),
            "boolean", Types.BooleanType.get(),
            "text", Types.StringType.get(),
            "name", Types.StringType.get(),
            "date", Types.DateType.get(),
            "uuid", Types.StringType.get());

    private PostgresTypes() {}

    /**
     * The schema of the lake table of a source table: its columns in order, then {@link #VERSION_COLUMN}. Key columns are required
     * and identifier fields; every other column is optional, because a later source may leave it out.
     *
     * @throws ContractException {@link ErrorCode#UNSUPPORTED_TYPE} naming the column and its type if it cannot be carried
     */
    public static Schema schema(CapturedTable table) {
        List<Types.NestedField> fields = new ArrayList<>();
        Set<Integer> identifiers = new HashSet<>();
        int id = 1;
        for (SourceColumn column : table.columns()) {
            refuseReservedName(table, column);
            Type type = type(table, column);
            boolean key = table.keyColumns().contains(column.name());
            if (key) {
                refuseFloatingKey(table, column, type);
                identifiers.add(id);
            }
            fields.add(Types.NestedField.builder()
                    .withId(id)
                    .withName(column.name())
                    .isOptional(!key)
                    .ofType(type)
                    .withDoc(column.postgresType())
                    .build());
            id++;
        }
        fields.add(Types.NestedField.required(id, VERSION_COLUMN, Types.LongType.get(), "WAL position of the change"));
        return new Schema(fields, identifiers);
    }

    /**
     * How values of a lake column travel in a row.
     *
     * @throws ContractException {@link ErrorCode#UNSUPPORTED_TYPE} if they do not
     */
    public static ColumnType columnType(Types.NestedField field) {
        return FieldTypes.columnType(field);
    }

    private static Type type(CapturedTable table, SourceColumn column) {
        if (column.enumeration()) {
            return Types.StringType.get();
        }
        Type type = supported(column.postgresType().toLowerCase(Locale.ROOT));
        if (type == null) {
            throw new ContractException(
                    ErrorCode.UNSUPPORTED_TYPE,
                    "column type cannot be captured: relation=" + table.relation() + ", column=" + column.name()
                            + ", type=" + column.postgresType());
        }
        return type;
    }

    private static @Nullable Type supported(String postgresType) {
        Type fixed = FIXED.get(postgresType);
        if (fixed != null) {
            return fixed;
        }
        Matcher numeric = NUMERIC.matcher(postgresType);
        if (numeric.matches()) {
            return numeric(numeric);
        }
        Matcher timestamp = TIMESTAMP.matcher(postgresType);
        if (timestamp.matches()) {
            return "with".equals(timestamp.group(1))
                    ? Types.TimestampType.withZone()
                    : Types.TimestampType.withoutZone();
        }
        boolean text = TEXT_WITH_LENGTH.matcher(postgresType).matches()
                || CITEXT.matcher(postgresType).matches();
        return text ? Types.StringType.get() : null;
    }

    private static Type numeric(Matcher matcher) {
        if (matcher.group(1) == null) {
            return Types.StringType.get();
        }
        int precision = Integer.parseInt(matcher.group(1));
        int scale = Integer.parseInt(matcher.group(2));
        boolean fits = precision <= DECIMAL_PRECISION_MAX && scale >= 0 && scale <= precision;
        return fits ? Types.DecimalType.of(precision, scale) : Types.StringType.get();
    }

    private static void refuseReservedName(CapturedTable table, SourceColumn column) {
        if (column.name().equals(VERSION_COLUMN) || MetadataColumns.isMetadataColumn(column.name())) {
            throw new ContractException(
                    ErrorCode.UNSUPPORTED_TYPE,
                    "column name is reserved in the lake: relation=" + table.relation() + ", column=" + column.name());
        }
    }

    private static void refuseFloatingKey(CapturedTable table, SourceColumn column, Type type) {
        if (type.typeId() == Type.TypeID.FLOAT || type.typeId() == Type.TypeID.DOUBLE) {
            throw new ContractException(
                    ErrorCode.UNSUPPORTED_TYPE,
                    "key column cannot be a floating point number: relation=" + table.relation() + ", column="
                            + column.name() + ", type=" + column.postgresType());
        }
    }
}
