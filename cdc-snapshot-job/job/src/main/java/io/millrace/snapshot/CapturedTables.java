package io.millrace.snapshot;

import io.millrace.lake.CapturedTable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads and writes {@code ml.captured_tables}. Each method uses the connection it is given and commits at once. */
public final class CapturedTables {
    private static final String PERMISSION_DENIED = "42501";

    private CapturedTables() {}

    /**
     * One row.
     *
     * @param table its description
     * @param status as in the table
     * @param present whether the source table still exists under its name
     * @param veiled whether row-level security hides rows of it from this role
     */
    public record Row(CapturedTable table, String status, boolean present, boolean veiled) {}

    /** All rows, ordered by relation. */
    public static List<Row> read(Connection connection) throws SQLException {
        // The name is looked up in the catalog, not with to_regclass: that one fails without USAGE on the schema.
        String sql = "SELECT t.relation, t.schema_name, t.table_name, t.key_columns, t.columns::text, t.status,"
                + " EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                + " WHERE c.oid = t.relid AND c.relname = t.table_name AND n.nspname = t.schema_name),"
                + " row_security_active(t.relid)"
                + " FROM ml.captured_tables t ORDER BY t.relation";
        List<Row> rows = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet result = statement.executeQuery()) {
            while (result.next()) {
                CapturedTable table = CapturedTable.parse(
                        result.getString(1),
                        result.getString(2),
                        result.getString(3),
                        List.of((String[]) result.getArray(4).getArray()),
                        result.getString(5));
                rows.add(new Row(table, result.getString(6), result.getBoolean(7), result.getBoolean(8)));
            }
        }
        return rows;
    }

    /** Notes where a table's rows go. */
    public static void setLakeTable(Connection connection, String relation, String lakeTable) throws SQLException {
        update(
                connection,
                "UPDATE ml.captured_tables SET lake_table = ?, updated_at = now()"
                        + " WHERE relation = ? AND lake_table IS DISTINCT FROM ?",
                lakeTable,
                relation,
                lakeTable);
    }

    /** Moves a table from one status to the next; does nothing when it has another status by now. */
    public static void advance(Connection connection, String relation, String from, String to) throws SQLException {
        update(
                connection,
                "UPDATE ml.captured_tables SET status = ?, error = NULL, updated_at = now()"
                        + " WHERE relation = ? AND status = ?",
                to,
                relation,
                from);
    }

    /** Marks the tables that a job is about to load; those that have been loaded keep their status. */
    public static void load(Connection connection, Collection<String> relations, Collection<String> loaded)
            throws SQLException {
        String sql = "UPDATE ml.captured_tables SET status = 'loading', error = NULL, updated_at = now()"
                + " WHERE relation = ANY (?) AND NOT relation = ANY (?) AND status IN ('requested', 'streaming')";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setArray(1, connection.createArrayOf("text", relations.toArray()));
            statement.setArray(2, connection.createArrayOf("text", loaded.toArray()));
            statement.executeUpdate();
        }
    }

    /** Notes what troubles the job of these tables; null when nothing does. */
    public static void note(Connection connection, Collection<String> relations, @Nullable String trouble)
            throws SQLException {
        String sql = "UPDATE ml.captured_tables SET error = ?, updated_at = now()"
                + " WHERE relation = ANY (?) AND status <> 'failed' AND error IS DISTINCT FROM ?";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, trouble);
            statement.setArray(2, connection.createArrayOf("text", relations.toArray()));
            statement.setString(3, trouble);
            statement.executeUpdate();
        }
    }

    /**
     * Brings the description of the columns up to date with the table, where the extension lets its workers do so.
     *
     * @return whether it was up to date or is now
     */
    public static boolean refreshColumns(Connection connection, Collection<String> relations) throws SQLException {
        String sql = "UPDATE ml.captured_tables SET columns = ml._columns_json(relid), updated_at = now()"
                + " WHERE relation = ANY (?) AND ml._columns_json(relid) IS NOT NULL"
                + " AND columns IS DISTINCT FROM ml._columns_json(relid)";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setArray(1, connection.createArrayOf("text", relations.toArray()));
            statement.executeUpdate();
            return true;
        } catch (SQLException e) {
            if (PERMISSION_DENIED.equals(e.getSQLState())) {
                return false;
            }
            throw e;
        }
    }

    /** Fails the requests that wait for tables that are not, or no longer, captured. */
    public static void failOrphanedRequests(Connection connection) throws SQLException {
        String sql = "UPDATE ml.snapshots s SET status = 'failed',"
                + " error = coalesce('table is not captured: ' || (SELECT t.error FROM ml.captured_tables t"
                + " WHERE t.relation = s.relation), 'table is not captured: relation=' || s.relation)"
                + " WHERE s.status IN ('requested', 'loading') AND NOT EXISTS (SELECT FROM ml.captured_tables t"
                + " WHERE t.relation = s.relation AND t.status NOT IN ('failed', 'dropping'))";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.executeUpdate();
        }
    }

    /** Says why a table cannot be captured any more. */
    public static void fail(Connection connection, String relation, String reason) throws SQLException {
        update(
                connection,
                "UPDATE ml.captured_tables SET status = 'failed', error = ?, updated_at = now() WHERE relation = ?",
                reason,
                relation);
    }

    /** Removes the row of a table that has been let go, unless somebody asked for it again. */
    public static void remove(Connection connection, String relation) throws SQLException {
        update(connection, "DELETE FROM ml.captured_tables WHERE relation = ? AND status = 'dropping'", relation);
    }

    private static void update(Connection connection, String sql, String... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setString(i + 1, parameters[i]);
            }
            statement.executeUpdate();
        }
    }
}
