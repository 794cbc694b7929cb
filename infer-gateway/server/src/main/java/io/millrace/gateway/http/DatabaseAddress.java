package io.millrace.gateway.http;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.SecretReference;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;

/**
 * The database whose projects HTTP serves.
 *
 * @param user a role that may read {@code ml.projects}, {@code ml.models}, {@code ml.deployments} and {@code
 *     ml.limits}
 * @param password read at each connection, so it can be rotated
 */
public record DatabaseAddress(String host, int port, String database, String user, SecretReference password) {
    /** Names are resolved beside the requests, so a database that hangs is given up soon. */
    private static final String LIMIT_SECONDS = "5";

    static DatabaseAddress from(ConfigFile file) {
        return new DatabaseAddress(
                file.string("database-host", "127.0.0.1"),
                file.integer("database-port", 5432, 1, 65_535),
                file.string("database-name", "postgres"),
                file.string("database-user", "millrace_gateway"),
                file.secret("database-password"));
    }

    /** The JDBC address, without credentials. */
    String url() {
        return "jdbc:postgresql://" + host + ":" + port + "/" + database;
    }

    /**
     * A new connection that can only read.
     *
     * @throws SQLException if the database refuses or does not answer
     */
    Connection open() throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", user);
        password.read().ifPresent(secret -> properties.setProperty("password", secret));
        properties.setProperty("ApplicationName", "millrace gateway");
        properties.setProperty("loginTimeout", LIMIT_SECONDS);
        properties.setProperty("connectTimeout", LIMIT_SECONDS);
        properties.setProperty("socketTimeout", LIMIT_SECONDS);
        properties.setProperty("readOnly", "true");
        return DriverManager.getConnection(url(), properties);
    }
}
