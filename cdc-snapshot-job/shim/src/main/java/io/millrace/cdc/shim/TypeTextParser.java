package io.millrace.cdc.shim;

import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;

/** Parses SQL type text with the one-argument call of Flink 1.20. */
public final class TypeTextParser {
    private TypeTextParser() {}

    /** Parses {@code text}, resolving user types with the calling thread's class loader. */
    public static LogicalType parse(String text) {
        return LogicalTypeParser.parse(text, Thread.currentThread().getContextClassLoader());
    }

    /** Parses {@code text}, resolving user types with {@code loader}. */
    public static LogicalType parse(String text, ClassLoader loader) {
        return LogicalTypeParser.parse(text, loader);
    }
}
