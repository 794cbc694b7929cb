package io.millrace.snapshot.source;

import io.debezium.relational.TableId;
import io.millrace.snapshot.TableRoute;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.data.Struct;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;

/** The captured tables, found by the names that change records carry; the requests' table is always among them. */
final class Captured implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final String REQUEST_SCHEMA = "ml";
    private static final String REQUEST_TABLE = "snapshot_requests";

    private final Map<String, Map<String, TableRoute>> routes = new HashMap<>();
    private final Map<String, Name> names = new HashMap<>();

    private record Name(String schema, String table) implements Serializable {}

    /**
     * The captured tables.
     *
     * @throws IllegalArgumentException if two of them differ only in where a dot belongs
     */
    Captured(List<TableRoute> tables) {
        names.put(REQUEST_SCHEMA + "." + REQUEST_TABLE, new Name(REQUEST_SCHEMA, REQUEST_TABLE));
        for (TableRoute table : tables) {
            Name name = new Name(table.schemaName(), table.tableName());
            if (names.put(name.schema() + "." + name.table(), name) != null) {
                throw new IllegalArgumentException(
                        "two captured tables cannot have the same name without quotes: relation=" + table.relation());
            }
            routes.computeIfAbsent(table.schemaName(), unused -> new HashMap<>())
                    .put(table.tableName(), table);
        }
    }

    @Nullable
    TableRoute route(@Nullable String schema, @Nullable String table) {
        Map<String, TableRoute> inSchema = routes.get(schema);
        return inSchema == null ? null : inSchema.get(table);
    }

    @Nullable
    String relation(@Nullable String schema, @Nullable String table) {
        TableRoute route = route(schema, table);
        return route == null ? null : route.relation();
    }

    /** Whether the record is a row of the requests' table. */
    boolean isRequest(SourceRecord record) {
        if (!(record.value() instanceof Struct value) || value.schema().field("source") == null) {
            return false;
        }
        Struct source = value.getStruct("source");
        return source != null
                && source.schema().field("table") != null
                && isRequestTable(source.getString("schema"), source.getString("table"));
    }

    static boolean isRequestTable(@Nullable String schema, @Nullable String table) {
        return REQUEST_SCHEMA.equals(schema) && REQUEST_TABLE.equals(table);
    }

    /**
     * The connector's table list: regular expressions over {@code schema.table}, separated by commas. A comma in a name is
     * written as its code, because the list is split before the expressions are read.
     */
    String[] tablePatterns() {
        List<String> patterns = new ArrayList<>();
        patterns.add(pattern(REQUEST_SCHEMA, REQUEST_TABLE));
        routes.forEach((schema, tables) -> tables.keySet().forEach(table -> patterns.add(pattern(schema, table))));
        return patterns.toArray(String[]::new);
    }

    /**
     * A regular expression that matches one name and no other: everything but letters and digits is written as its code, because
     * the connector splits lists of expressions at commas, and case counts although the connector says it does not.
     */
    private static String pattern(String schema, String table) {
        return "(?-i)" + escape(schema) + "\\." + escape(table);
    }

    /** {@code name} as a regular expression without commas. */
    static String escape(String name) {
        StringBuilder escaped = new StringBuilder();
        name.codePoints().forEach(point -> {
            if (Character.isLetterOrDigit(point) || point == '_') {
                escaped.appendCodePoint(point);
            } else {
                escaped.append(String.format("\\x{%x}", point));
            }
        });
        return escaped.toString();
    }

    /**
     * The table whose name is {@code schema.table}, written without quotes. The connector keeps names in this form in places, and
     * reads a dot inside a name as a separator.
     */
    @Nullable
    TableId tableId(String dotted) {
        Name name = names.get(dotted);
        return name == null ? null : new TableId(null, name.schema(), name.table());
    }
}
