package io.millrace.contract;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The raw input columns of a model, label and keys excluded, in the order of the source table.
 *
 * @param columns with distinct, non-empty names
 */
public record FeatureSchema(List<Column> columns) {
    /**
     * Copies the columns.
     *
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} if a name is empty or appears twice
     */
    public FeatureSchema {
        columns = List.copyOf(columns);
        Set<String> names = new HashSet<>();
        for (Column column : columns) {
            if (column.name().isEmpty() || !names.add(column.name())) {
                throw new ContractException(
                        ErrorCode.INVALID_VALUE,
                        "schema column names must be distinct and not empty: name=\"" + column.name() + "\"");
            }
        }
    }

    /**
     * A number that changes when a name, a type or the order changes.
     *
     * <p>FNV-1a 64 over name in UTF-8, a zero byte and the type tag of each column. Whether a column allows NULL does
     * not change what a transform does, so it is left out.
     */
    public long fingerprint() {
        long hash = Fnv1a.start();
        for (Column column : columns) {
            hash = Fnv1a.update(hash, column.name());
            hash = Fnv1a.update(hash, (byte) 0);
            hash = Fnv1a.update(hash, (byte) column.type().tag());
        }
        return hash;
    }

    /**
     * Position of a column.
     *
     * @param name as in the source table, compared exactly
     * @return 0-based; -1 when no column has the name
     */
    public int indexOf(String name) {
        for (int index = 0; index < columns.size(); index++) {
            if (columns.get(index).name().equals(name)) {
                return index;
            }
        }
        return -1;
    }
}
