package io.millrace.jobs;

import io.millrace.contract.ConfigFile;
import java.io.Serializable;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens connections to the source database.
 *
 * <p>Serializable, so that an operator carries it to its task; the password travels with it but is never printed. A
 * connection belongs to the thread that opened it.
 *
 * @param host name or address
 * @param port TCP port, 1..65535
 * @param database database name
 * @param user role name, a member of {@code ml_worker}
 * @param password empty when the server asks for none
 */
public record DatabaseConnections(String host, int port, String database, String user, String password)
        implements Serializable {
    private static final Logger LOG = LoggerFactory.getLogger(DatabaseConnections.class);
    private static final int LOGIN_LIMIT_SECONDS = 10;
    private static final int SOCKET_LIMIT_SECONDS = 120;
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 5_000;

    /** Reads {@code database.properties}. */
    public static DatabaseConnections from(ConfigFile file) {
        return new DatabaseConnections(
                file.string("database-host", "127.0.0.1"),
                file.integer("database-port", 5432, 1, 65535),
                file.string("database-name", "postgres"),
                file.string("database-user", "millrace_worker"),
                file.secret("database-password").read().orElse(""));
    }

    /** The JDBC address, without credentials. */
    public String url() {
        return "jdbc:postgresql://" + host + ":" + port + "/" + database;
    }

    /**
     * One connection, in autocommit mode, named {@code millrace <purpose>} in pg_stat_activity.
     *
     * @throws SQLException if the database refuses or does not answer
     */
    public Connection open(String purpose) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", user);
        if (!password.isEmpty()) {
            properties.setProperty("password", password);
        }
        properties.setProperty("ApplicationName", "millrace " + purpose);
        properties.setProperty("loginTimeout", Integer.toString(LOGIN_LIMIT_SECONDS));
        properties.setProperty("connectTimeout", Integer.toString(LOGIN_LIMIT_SECONDS));
        properties.setProperty("socketTimeout", Integer.toString(SOCKET_LIMIT_SECONDS));
        properties.setProperty("tcpKeepAlive", "true");
        return DriverManager.getConnection(url(), properties);
    }

    /**
     * One connection, however long the database takes to appear within {@code limit}. Says once what it waits for.
     *
     * @throws SQLException the last refusal, when {@code limit} has passed
     * @throws InterruptedException if the waiting thread is interrupted
     */
    public Connection await(String purpose, Duration limit) throws SQLException, InterruptedException {
        long deadlineNanos = System.nanoTime() + limit.toNanos();
        long pauseMillis = FIRST_PAUSE_MILLIS;
        boolean told = false;
        while (true) {
            try {
                return open(purpose);
            } catch (SQLException e) {
                if (System.nanoTime() - deadlineNanos >= 0) {
                    throw e;
                }
                if (!told) {
                    LOG.info("waiting for the database: url={}, user={}, cause={}", url(), user, e.getMessage());
                    told = true;
                }
            }
            Thread.sleep(pauseMillis);
            pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
        }
    }

    /** Everything but the password. */
    @Override
    public String toString() {
        return "DatabaseConnections[url=" + url() + ", user=" + user + "]";
    }
}
