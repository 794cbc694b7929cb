package io.millrace.lake.column;

import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.util.regex.Pattern;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/** How the values of a lake column travel in a row. */
public final class FieldTypes {
    /** PostgreSQL's numeric, with precision and scale when it has them. */
    public static final Pattern NUMERIC = Pattern.compile("numeric(?:\\((\\d+),(-?\\d+)\\))?");

    private FieldTypes() {}

    /**
     * Type of a column's values in a row.
     *
     * @throws ContractException {@link ErrorCode#UNSUPPORTED_TYPE} if they cannot travel
     */
    public static ColumnType columnType(Types.NestedField field) {
        return switch (field.type().typeId()) {
            case BOOLEAN -> ColumnType.BOOLEAN;
            case INTEGER, LONG -> ColumnType.INT64;
            case FLOAT, DOUBLE, DECIMAL -> ColumnType.FLOAT64;
            case STRING -> isNumericText(field) ? ColumnType.FLOAT64 : ColumnType.TEXT;
            case UUID -> ColumnType.TEXT;
            case DATE -> ColumnType.DATE;
            case TIMESTAMP -> ColumnType.TIMESTAMP;
            default ->
                throw new ContractException(
                        ErrorCode.UNSUPPORTED_TYPE,
                        "column type cannot travel in a row: column=" + field.name() + ", type=" + field.type());
        };
    }

    /** Whether a column holds numbers as text, because their source type has no bound on digits. */
    public static boolean isNumericText(Types.NestedField field) {
        String doc = field.doc();
        return field.type().typeId() == Type.TypeID.STRING
                && doc != null
                && NUMERIC.matcher(doc).matches();
    }
}
