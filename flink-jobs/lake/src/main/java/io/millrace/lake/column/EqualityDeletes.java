package io.millrace.lake.column;

import io.millrace.contract.ColumnType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileContent;
import org.apache.iceberg.Schema;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.types.Types;
import org.jspecify.annotations.Nullable;

/*
 * The keys that the equality deletes of one data file remove from it. Planning gives a data file only the delete files of later
 * sequence numbers, so a key found here is deleted whatever its version. Keys of one integer column, the usual primary key, are kept
 * as plain longs.
 */
final class EqualityDeletes {
    /** Stands for NULL among longs. */
    private static final Object NULL = "NULL";

    /** Rough size of a key in memory. */
    private static final long KEY_BYTES = 64;

    private final int[] columns;
    private final @Nullable LongKeys longKeys;
    private final Set<Object> keys = new HashSet<>();
    private boolean nullIsDeleted;

    private EqualityDeletes(int[] columns, boolean integral) {
        this.columns = columns;
        this.longKeys = integral ? new LongKeys() : null;
    }

    /**
     * Reads the delete files.
     *
     * @param fields of the rows that will be tested: each key column must be among them
     * @return one set for each combination of key columns
     */
    static List<EqualityDeletes> load(
            FileIO io, Schema schema, List<DeleteFile> files, List<Types.NestedField> fields) {
        Map<String, List<DeleteFile>> byKey = new TreeMap<>();
        for (DeleteFile file : files) {
            if (file.content() == FileContent.EQUALITY_DELETES) {
                byKey.computeIfAbsent(new TreeSet<>(file.equalityFieldIds()).toString(), key -> new ArrayList<>())
                        .add(file);
            }
        }
        List<EqualityDeletes> loaded = new ArrayList<>();
        for (List<DeleteFile> sameKey : byKey.values()) {
            List<Types.NestedField> keyFields = keyFields(schema, sameKey.get(0));
            int[] columns = new int[keyFields.size()];
            for (int i = 0; i < columns.length; i++) {
                columns[i] = fields.indexOf(keyFields.get(i));
            }
            boolean integral = isIntegral(keyFields);
            EqualityDeletes deletes = new EqualityDeletes(columns, integral);
            for (DeleteFile file : sameKey) {
                deletes.add(DeleteCache.shared()
                        .get(
                                "keys " + file.location(),
                                () -> read(io, file, keyFields, integral),
                                keys -> KEY_BYTES * (1 + keys.length)));
            }
            loaded.add(deletes);
        }
        return loaded;
    }

    /** The columns that equality deletes of these files compare, in the order of the schema. */
    static Set<Types.NestedField> keyFields(Schema schema, List<DeleteFile> files) {
        Set<Types.NestedField> fields = new HashSet<>();
        for (DeleteFile file : files) {
            if (file.content() == FileContent.EQUALITY_DELETES) {
                fields.addAll(keyFields(schema, file));
            }
        }
        return fields;
    }

    /** Whether the row of the batch is deleted. */
    boolean contains(ColumnBatches batch, int row) {
        if (longKeys != null) {
            ColumnVector vector = batch.column(columns[0]);
            return vector.isNull(row) ? nullIsDeleted : longKeys.contains(vector.integer(row));
        }
        return keys.contains(key(batch, columns, row));
    }

    private void add(Object[] fileKeys) {
        for (Object key : fileKeys) {
            if (longKeys == null) {
                keys.add(key);
            } else if (key instanceof Long number) {
                longKeys.add(number);
            } else {
                nullIsDeleted = true;
            }
        }
    }

    /** The keys of a file: of one integer column a long or {@link #NULL}, of other columns a list. */
    private static Object[] read(FileIO io, DeleteFile file, List<Types.NestedField> keyFields, boolean integral) {
        int[] positions = new int[keyFields.size()];
        Arrays.setAll(positions, i -> i);
        List<Object> keys = new ArrayList<>();
        try (ColumnBatches batches =
                new ColumnBatches(io.newInputFile(file), 0, file.fileSizeInBytes(), keyFields, true)) {
            while (batches.next()) {
                for (int row = 0; row < batches.rowCount(); row++) {
                    keys.add(integral ? integralKey(batches.column(0), row) : key(batches, positions, row));
                }
            }
        }
        return keys.toArray();
    }

    private static Object integralKey(ColumnVector vector, int row) {
        return vector.isNull(row) ? NULL : (Object) vector.integer(row);
    }

    private static Object key(ColumnBatches batch, int[] positions, int row) {
        @Nullable Object[] values = new @Nullable Object[positions.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = batch.column(positions[i]).key(row);
        }
        return Arrays.asList(values);
    }

    private static List<Types.NestedField> keyFields(Schema schema, DeleteFile file) {
        List<Types.NestedField> fields = new ArrayList<>();
        for (int id : new TreeSet<>(file.equalityFieldIds())) {
            Types.NestedField field = schema.findField(id);
            if (field == null) {
                throw new IllegalStateException(
                        "key column of a delete file is not in the schema: file=" + file.location() + ", field=" + id);
            }
            fields.add(field);
        }
        return fields;
    }

    private static boolean isIntegral(List<Types.NestedField> keyFields) {
        if (keyFields.size() != 1) {
            return false;
        }
        ColumnType type = FieldTypes.columnType(keyFields.get(0));
        return type != ColumnType.FLOAT64 && type != ColumnType.TEXT;
    }
}
