package io.millrace.snapshot.source;

import io.millrace.lake.PostgresTypes;
import io.millrace.snapshot.TableRoute;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.data.Field;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.data.Schema;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.data.Struct;
import org.apache.flink.table.data.GenericRowData;
import org.apache.iceberg.types.Types;
import org.jspecify.annotations.Nullable;

/**
 * Converts rows of one source schema into rows of the lake table. Columns meet by name: one that the source no longer has is
 * NULL, one that the lake does not have is left out.
 */
final class RowConverter {
    /**
     * Stands for a long value that a row kept and that the log does not repeat, when the table has lost its full replica identity. No
     * text of PostgreSQL has this character.
     */
    static final String UNCHANGED = "\u0000unchanged";

    private static final int ABSENT = -1;
    private static final int VERSION = -2;

    private final String relation;

    private final List<Field> sourceFields;
    private final int[] sourceIndexes;
    private final ValueConverter[] converters;
    private final int[] keyIndexes;

    /**
     * A converter of rows with the schema {@code source}.
     *
     * @param read whether the rows were read from the table itself, not from the log; then columns may be there that the log never
     *     carries, generated ones
     * @throws SchemaMismatchException if the source has columns that the lake has not, or other types
     */
    RowConverter(TableRoute route, Schema source, boolean read) {
        List<Types.NestedField> columns = route.schema().columns();
        relation = route.relation();
        sourceFields = source.fields();
        for (Field field : sourceFields) {
            if (!read && route.schema().findField(field.name()) == null) {
                throw new SchemaMismatchException(
                        "column must be in the lake: relation=" + route.relation() + ", column=" + field.name());
            }
        }
        sourceIndexes = new int[columns.size()];
        converters = new ValueConverter[columns.size()];
        keyIndexes = IntStream.range(0, columns.size())
                .filter(i -> route.schema()
                        .identifierFieldIds()
                        .contains(columns.get(i).fieldId()))
                .toArray();
        for (int i = 0; i < columns.size(); i++) {
            Types.NestedField column = columns.get(i);
            Field field = source.field(column.name());
            converters[i] = ValueConverter.NOTHING;
            if (column.name().equals(PostgresTypes.VERSION_COLUMN)) {
                sourceIndexes[i] = VERSION;
            } else if (field == null) {
                sourceIndexes[i] = ABSENT;
            } else {
                sourceIndexes[i] = field.index();
                converters[i] = ValueConverter.of(route.relation(), column, field.schema(), read);
            }
        }
    }

    /**
     * The lake row of one source row.
     *
     * @throws SchemaMismatchException if a value is missing or does not fit
     */
    GenericRowData convert(Struct source, long lsn) {
        GenericRowData row = new GenericRowData(converters.length);
        for (int i = 0; i < converters.length; i++) {
            row.setField(i, value(source, i, lsn));
        }
        return row;
    }

    /** Whether two rows of this converter's table have the same key. */
    boolean sameKey(GenericRowData one, GenericRowData other) {
        return IntStream.of(keyIndexes).allMatch(i -> Objects.equals(one.getField(i), other.getField(i)));
    }

    private @Nullable Object value(Struct source, int column, long lsn) {
        int index = sourceIndexes[column];
        if (index == VERSION) {
            return lsn;
        }
        Object value = index == ABSENT
                ? null
                : source.getWithoutDefault(sourceFields.get(index).name());
        if (UNCHANGED.equals(value)) {
            throw new SchemaMismatchException("value must be in the log, replica identity must be full: relation="
                    + relation + ", column=" + sourceFields.get(index).name());
        }
        return value == null ? null : converters[column].convert(value);
    }
}
