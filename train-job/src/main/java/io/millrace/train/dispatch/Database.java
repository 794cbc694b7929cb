package io.millrace.train.dispatch;

import io.millrace.jobs.DatabaseConnections;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that comes back: when the server restarts, or the line breaks, what was being done is done again on a new
 * one. Everything done through it must bear being done twice.
 *
 * <p>One thread.
 */
final class Database implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Database.class);
    private static final Duration WAIT = Duration.ofMinutes(30);
    private static final int TRIES = 20;
    private static final int VALID_SECONDS = 5;

    private final DatabaseConnections connections;
    private final String purpose;
    private @Nullable Connection connection;

    Database(DatabaseConnections connections, String purpose) {
        this.connections = connections;
        this.purpose = purpose;
    }

    /** Something to do with a connection in autocommit mode. */
    interface Action<T extends @Nullable Object> {
        T run(Connection connection) throws SQLException, InterruptedException;
    }

    /**
     * Does it, waiting for the database for up to half an hour if it must.
     *
     * @throws SQLException if the database refuses the action itself
     */
    <T extends @Nullable Object> T call(Action<T> action) throws SQLException, InterruptedException {
        for (int tried = 1; ; tried++) {
            Connection open = connection();
            try {
                return action.run(open);
            } catch (SQLException e) {
                if (tried == TRIES || !isBroken(open, e)) {
                    throw e;
                }
                LOG.info("database connection was lost, connecting again: cause={}", e.getMessage());
                close();
            }
        }
    }

    private Connection connection() throws SQLException, InterruptedException {
        Connection open = connection;
        if (open == null) {
            open = connections.await(purpose, WAIT);
            connection = open;
        }
        return open;
    }

    private static boolean isBroken(Connection connection, SQLException e) throws SQLException {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        return state.startsWith("08") || state.startsWith("57P") || !connection.isValid(VALID_SECONDS);
    }

    @Override
    public void close() {
        Connection open = connection;
        connection = null;
        if (open != null) {
            try {
                open.close();
            } catch (SQLException e) {
                LOG.debug("broken connection cannot be closed", e);
            }
        }
    }
}
