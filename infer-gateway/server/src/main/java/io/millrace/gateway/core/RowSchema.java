package io.millrace.gateway.core;

import io.millrace.contract.Column;
import java.util.List;

/**
 * Columns of a caller's rows. The same descriptor is the same object, so a model remembers its binding by identity.
 */
public final class RowSchema {
    private final List<Column> columns;

    public RowSchema(List<Column> columns) {
        this.columns = List.copyOf(columns);
    }

    /** In the order of the values on the wire; all names empty = positional. */
    public List<Column> columns() {
        return columns;
    }
}
