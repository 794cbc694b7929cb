package io.millrace.lake;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Properties;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.jdbc.JdbcCatalog;

/*
 * Iceberg can make the tables of its JDBC catalog itself, but it looks for them in every schema of the database: with the catalog
 * of another tool in the same database it would believe that ours exists. It also fails when two processes make them at once.
 * So they are made here: with the layout that also holds views, under a lock, and only when they are missing.
 */
final class JdbcCatalogSchema {
    private static final String TABLES = "CREATE TABLE IF NOT EXISTS iceberg_tables ("
            + "catalog_name VARCHAR(255) NOT NULL, "
            + "table_namespace VARCHAR(255) NOT NULL, "
            + "table_name VARCHAR(255) NOT NULL, "
            + "metadata_location VARCHAR(1000), "
            + "previous_metadata_location VARCHAR(1000), "
            + "iceberg_type VARCHAR(5), "
            + "PRIMARY KEY (catalog_name, table_namespace, table_name))";
    private static final String NAMESPACES = "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties ("
            + "catalog_name VARCHAR(255) NOT NULL, "
            + "namespace VARCHAR(255) NOT NULL, "
            + "property_key VARCHAR(255), "
            + "property_value VARCHAR(1000), "
            + "PRIMARY KEY (catalog_name, namespace, property_key))";

    /** Key of the advisory lock: the bytes of "mr_lake". */
    private static final long LOCK_KEY = 0x6d725f6c616b65L;

    private JdbcCatalogSchema() {}

    /**
     * Makes what is missing.
     *
     * @param properties of the catalog, secrets resolved
     * @param schema of the database that holds the catalog; ignored when the database is not PostgreSQL
     */
    static void prepare(Map<String, String> properties, String schema) {
        String uri = properties.getOrDefault(CatalogProperties.URI, "");
        Properties login = new Properties();
        properties.forEach((key, value) -> {
            if (key.startsWith(JdbcCatalog.PROPERTY_PREFIX)) {
                login.setProperty(key.substring(JdbcCatalog.PROPERTY_PREFIX.length()), value);
            }
        });
        try (Connection connection = DriverManager.getConnection(uri, login);
                Statement statement = connection.createStatement()) {
            if (uri.startsWith("jdbc:postgresql:")) {
                preparePostgres(connection, statement, schema);
            } else {
                statement.execute(TABLES);
                statement.execute(NAMESPACES);
            }
        } catch (SQLException e) {
            // The address may carry parameters, so only the driver's own words are repeated.
            throw new ContractException(
                    ErrorCode.IO_FAILED,
                    "lake catalog cannot be opened: schema=" + schema + ", sqlstate=" + e.getSQLState() + ", reason="
                            + e.getMessage(),
                    e);
        }
    }

    private static void preparePostgres(Connection connection, Statement statement, String schema) throws SQLException {
        String name = literal(connection, schema);
        String tables = "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n"
                + " ON n.oid = c.relnamespace WHERE c.relname IN ('iceberg_tables', 'iceberg_namespace_properties')"
                + " AND n.nspname = " + name;
        if (count(statement, tables) == 2) {
            return; // the usual case needs no rights and takes no lock
        }
        connection.setAutoCommit(false);
        statement.execute("SELECT pg_advisory_xact_lock(" + LOCK_KEY + ")");
        // IF NOT EXISTS would ask for the right to create schemas even when there is nothing to create.
        if (count(statement, "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = " + name) == 0) {
            statement.execute("CREATE SCHEMA " + statement.enquoteIdentifier(schema, true));
        }
        statement.execute(TABLES);
        statement.execute(NAMESPACES);
        connection.commit();
    }

    private static int count(Statement statement, String query) throws SQLException {
        try (ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getInt(1);
        }
    }

    private static String literal(Connection connection, String text) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.enquoteLiteral(text);
        }
    }
}
