package io.millrace.lake.testing;

import io.millrace.lake.CapturedTable;
import io.millrace.lake.RowChecksum;
import io.millrace.lake.SourceColumn;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.Schema;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.types.Types;
import org.jspecify.annotations.Nullable;

/** Source tables as the lake sees them: their description, their rows, and the checksum to compare with a snapshot's. */
public final class TestingMirror {
    private TestingMirror() {}

    /** The description of a table of the default database, its primary key as the key. */
    public static CapturedTable describe(TestingPostgres postgres, String schema, String table) {
        List<SourceColumn> columns = new ArrayList<>();
        for (List<@Nullable String> row : postgres.query(
                "SELECT a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull, t.typtype = 'e'"
                        + " FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid"
                        + " WHERE a.attrelid = format('%I.%I', ?, ?)::regclass AND a.attnum > 0 AND NOT a.attisdropped"
                        + " ORDER BY a.attnum",
                schema, table)) {
            columns.add(new SourceColumn(
                    String.valueOf(row.get(0)),
                    String.valueOf(row.get(1)),
                    "t".equals(row.get(2)),
                    "t".equals(row.get(3))));
        }
        List<String> keys = new ArrayList<>();
        for (List<@Nullable String> row : postgres.query(
                "SELECT a.attname FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY k(attnum, place)"
                        + " JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum"
                        + " WHERE i.indrelid = format('%I.%I', ?, ?)::regclass AND i.indisprimary ORDER BY k.place",
                schema, table)) {
            keys.add(String.valueOf(row.get(0)));
        }
        String relation = String.valueOf(postgres.queryOne("SELECT format('%I.%I', ?, ?)", schema, table));
        return new CapturedTable(relation, schema, table, keys, columns);
    }

    /** The checksum of the source rows as one query sees them; columns in the order of the lake table. */
    public static RowChecksum checksum(TestingPostgres postgres, CapturedTable source) {
        RowChecksum checksum = new RowChecksum();
        texts(postgres, source).forEach(checksum::add);
        return checksum;
    }

    /** The source rows as PostgreSQL prints their values in time zone UTC, NULL as null. */
    public static List<List<@Nullable String>> texts(TestingPostgres postgres, CapturedTable source) {
        StringBuilder columns = new StringBuilder();
        for (SourceColumn column : source.columns()) {
            columns.append(columns.isEmpty() ? "" : ", ")
                    .append(quoted(column.name()))
                    .append("::text");
        }
        List<List<@Nullable String>> rows = new ArrayList<>();
        read(postgres, "SELECT " + columns + " FROM " + source.relation(), result -> {
            List<@Nullable String> values = new ArrayList<>();
            for (int i = 1; i <= source.columns().size(); i++) {
                values.add(result.getString(i));
            }
            rows.add(values);
        });
        return rows;
    }

    /** The source rows as rows of the lake table. */
    public static List<Record> rows(TestingPostgres postgres, CapturedTable source, TestingTable lake) {
        List<Record> rows = new ArrayList<>();
        Schema schema = lake.table().schema();
        read(postgres, "SELECT * FROM " + source.relation(), result -> {
            @Nullable Object[] values = new @Nullable Object[source.columns().size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = value(result, i + 1, schema.columns().get(i));
            }
            rows.add(lake.row(values));
        });
        return rows;
    }

    private static @Nullable Object value(ResultSet result, int index, Types.NestedField field) throws SQLException {
        Object value = switch (field.type().typeId()) {
            case BOOLEAN -> result.getBoolean(index);
            case INTEGER -> result.getInt(index);
            case LONG -> result.getLong(index);
            case FLOAT -> result.getFloat(index);
            case DOUBLE -> result.getDouble(index);
            case DECIMAL -> result.getBigDecimal(index);
            case DATE -> result.getObject(index, LocalDate.class);
            case TIMESTAMP ->
                ((Types.TimestampType) field.type()).shouldAdjustToUTC()
                        ? result.getObject(index, OffsetDateTime.class)
                        : result.getObject(index, LocalDateTime.class);
            default -> result.getString(index);
        };
        return result.wasNull() ? null : value;
    }

    private static void read(TestingPostgres postgres, String sql, RowAction action) {
        try (Connection connection = postgres.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("SET timezone = 'UTC'");
            connection.setAutoCommit(false);
            statement.setFetchSize(10_000);
            try (ResultSet result = statement.executeQuery(sql)) {
                while (result.next()) {
                    action.accept(result);
                }
            }
            connection.commit();
        } catch (SQLException e) {
            throw new IllegalStateException("query failed: " + e.getMessage(), e);
        }
    }

    private static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    @FunctionalInterface
    private interface RowAction {
        void accept(ResultSet result) throws SQLException;
    }
}
