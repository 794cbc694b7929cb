package io.millrace.snapshot.supervise;

import io.millrace.jobs.DatabaseConnections;
import io.millrace.jobs.FlinkRest;
import io.millrace.jobs.FlinkRestException;
import io.millrace.jobs.JobSettings;
import io.millrace.lake.LakeConfig;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats the supervisor's step: at once when the database tells of a change, otherwise after a while. What it needs and does not
 * find, it waits for and says so once.
 */
public final class SupervisorLoop {
    private static final Logger LOG = LoggerFactory.getLogger(SupervisorLoop.class);
    private static final Duration DATABASE_LIMIT = Duration.ofMinutes(10);
    private static final int PAUSE_MILLIS_MAX = 15_000;

    private final DatabaseConnections database;
    private final FlinkRest flink;
    private final Supervisor supervisor;
    private final int pollMillis;
    private final boolean stopJobOnExit;
    private volatile boolean stopping;
    private String waitingFor = "";

    private SupervisorLoop(
            DatabaseConnections database, FlinkRest flink, Supervisor supervisor, SupervisorConfig config) {
        this.database = database;
        this.flink = flink;
        this.supervisor = supervisor;
        this.pollMillis = config.pollMillis();
        this.stopJobOnExit = config.stopJobOnExit();
    }

    /** A loop by the configuration of {@code settings}; nothing is contacted yet. */
    public static SupervisorLoop of(JobSettings settings) {
        SupervisorConfig config = SupervisorConfig.from(settings.file("snapshot"));
        LakeConfig lake = LakeConfig.from(settings.file("lake"), settings.file("database"));
        FlinkRest flink = new FlinkRest(config.flinkRest(), Duration.ofMillis(config.requestMillis()));
        Supervisor supervisor = new Supervisor(config, lake, settings.confDirectory(), flink);
        return new SupervisorLoop(settings.database(), flink, supervisor, config);
    }

    /** Ends {@link #run} soon. */
    public void stop() {
        stopping = true;
    }

    /** Runs until {@link #stop} or an interrupt. */
    public void run() {
        LOG.info("snapshot supervisor is running: database={}, flink={}", database.url(), flink.endpoint());
        int failures = 0;
        while (!stopping) {
            try (Connection connection = database.await("snapshot supervisor", DATABASE_LIMIT)) {
                listen(connection);
                while (!stopping) {
                    step(connection);
                    failures = 0;
                    awaitNews(connection);
                }
            } catch (InterruptedException e) {
                stopping = true;
            } catch (SQLException | IOException | RuntimeException e) {
                failures++;
                LOG.warn("supervisor step failed: failures={}, cause={}", failures, e.getMessage(), e);
                pause(Math.min(PAUSE_MILLIS_MAX, pollMillis << Math.min(failures - 1, 5)));
            }
        }
        end();
    }

    private void end() {
        if (stopJobOnExit) {
            // The interrupt that ended the loop must not end the savepoint.
            Thread.interrupted();
            try {
                supervisor.stopJob();
            } catch (InterruptedException | FlinkRestException e) {
                LOG.warn("change job cannot be stopped with a savepoint; it continues from its newest checkpoint", e);
            }
        }
        LOG.info("snapshot supervisor has ended");
    }

    private void step(Connection connection) throws SQLException, IOException, InterruptedException {
        if (!flink.ready()) {
            waitFor("Flink with a free TaskManager: endpoint=" + flink.endpoint());
        } else if (hasExtension(connection)) {
            waitFor("");
            supervisor.step(connection);
        } else {
            waitFor("the extension millrace: url=" + database.url());
            supervisor.extensionGone(connection);
        }
    }

    private void waitFor(String what) {
        if (!what.isEmpty() && !what.equals(waitingFor)) {
            LOG.info("waiting for {}", what);
        }
        waitingFor = what;
    }

    private static boolean hasExtension(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT FROM pg_extension WHERE extname = 'millrace'")) {
            return row.next();
        }
    }

    private static void listen(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("LISTEN ml_captured");
        }
    }

    private void awaitNews(Connection connection) throws SQLException {
        connection.unwrap(PGConnection.class).getNotifications(pollMillis);
    }

    private void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            stopping = true;
        }
    }
}
