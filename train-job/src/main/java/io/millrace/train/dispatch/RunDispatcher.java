package io.millrace.train.dispatch;

import io.millrace.jobs.DatabaseConnections;
import io.millrace.jobs.FlinkRest;
import io.millrace.train.TrainConfig;
import io.millrace.train.run.Run;
import io.millrace.train.run.RunQueue;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims runs and has each followed by a thread of its own; keeps their leases. Any number of dispatchers may serve one
 * database.
 */
public final class RunDispatcher implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RunDispatcher.class);
    private static final Duration REQUEST_LIMIT = Duration.ofSeconds(10);
    private static final long STOP_SECONDS = 10;
    private static final long SCHEMA_WAIT_MILLIS = 2_000;
    private static final String RUNS = "ml_runs";
    private static final String UNDEFINED_TABLE = "42P01";
    private static final String UNDEFINED_SCHEMA = "3F000";
    private static final String NO_PRIVILEGE = "42501";

    private final Path confDirectory;
    private final TrainConfig config;
    private final DatabaseConnections connections;
    private final String owner;
    private final FlinkRest flink;
    private final JobGauges gauges;
    private final ExecutorService followers = Executors.newCachedThreadPool(runnable -> daemon(runnable, "follower"));
    private final ExecutorService submitters = Executors.newCachedThreadPool(runnable -> daemon(runnable, "submitter"));
    private final Map<Long, Followed> followed = new ConcurrentHashMap<>();
    private @Nullable Connection listening;

    /** A run that a thread follows, and the bell that wakes it. */
    private record Followed(Future<?> thread, RunBell bell) {}

    private long renewedNanos = System.nanoTime();

    public RunDispatcher(Path confDirectory, TrainConfig config, DatabaseConnections connections) {
        this.confDirectory = confDirectory;
        this.config = config;
        this.connections = connections;
        this.owner = "dispatcher-" + ProcessHandle.current().pid() + "-" + UUID.randomUUID();
        this.flink = new FlinkRest(config.flinkRestUri(), REQUEST_LIMIT);
        this.gauges = new JobGauges(config.flinkRestUri());
    }

    private static Thread daemon(Runnable runnable, String name) {
        Thread thread = new Thread(runnable, name);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Dispatches until the thread is interrupted.
     *
     * @throws InterruptedException always, in the end
     */
    public void run() throws InterruptedException {
        LOG.info("dispatcher starts: owner={}, database={}, flink={}", owner, connections.url(), flink.endpoint());
        try (Database database = new Database(connections, "run dispatcher")) {
            boolean told = false;
            while (true) {
                try {
                    database.call(this::turn);
                    told = false;
                } catch (SQLException e) {
                    // A database without the extension, or a statement that failed: say so and look again.
                    if (!told || !isNotReady(e)) {
                        LOG.warn("queue cannot be read: state={}, cause={}", e.getSQLState(), e.getMessage());
                        told = true;
                    }
                    TimeUnit.MILLISECONDS.sleep(SCHEMA_WAIT_MILLIS);
                }
            }
        }
    }

    private static boolean isNotReady(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        return state.equals(UNDEFINED_TABLE) || state.equals(UNDEFINED_SCHEMA) || state.equals(NO_PRIVILEGE);
    }

    /** One look at the queue, then a wait for news, bounded by the poll interval. */
    private boolean turn(Connection connection) throws SQLException, InterruptedException {
        listen(connection);
        RunQueue queue = new RunQueue(connection, owner, config);
        followed.values().removeIf(run -> run.thread().isDone());
        renew(queue);
        queue.settle();
        while (followed.size() < config.concurrentRuns()) {
            Optional<Run> taken = queue.take();
            if (taken.isEmpty()) {
                break;
            }
            start(taken.get());
        }
        PGConnection notifying = connection.unwrap(PGConnection.class);
        // Those that came with an earlier answer are there already; a wait would be for the next one.
        if (!ring(notifying.getNotifications())) {
            ring(notifying.getNotifications((int) config.poll().toMillis()));
        }
        if (Thread.interrupted()) {
            throw new InterruptedException("dispatcher is stopped");
        }
        return true;
    }

    /** Wakes the followers of runs whose rows have changed; false if there was no news at all. */
    private boolean ring(PGNotification @Nullable [] news) {
        if (news == null || news.length == 0) {
            return false;
        }
        for (PGNotification one : news) {
            if (one.getName().equals(RUNS)) {
                Followed run = followed.get(runId(one.getParameter()));
                if (run != null) {
                    run.bell().ring();
                }
            }
        }
        return true;
    }

    /** The payload is the run's id and its status; anybody may send another one. */
    private static long runId(String payload) {
        String digits = payload.split(" ", 2)[0];
        return digits.matches("\\d{1,18}") ? Long.parseLong(digits) : 0;
    }

    /** Three times in a lease: one look that fails or comes late loses nothing. */
    private void renew(RunQueue queue) throws SQLException {
        long now = System.nanoTime();
        if (!followed.isEmpty() && now - renewedNanos > config.lease().toNanos() / TrainConfig.RENEWALS) {
            queue.renew(Set.copyOf(followed.keySet()));
            renewedNanos = now;
        }
    }

    private void listen(Connection connection) throws SQLException {
        if (listening != connection) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("LISTEN " + RUNS);
                statement.execute("LISTEN ml_snapshots");
            }
            listening = connection;
        }
    }

    private void start(Run run) {
        RunBell bell = new RunBell();
        Future<?> thread = followers.submit(() -> {
            try (Database database = new Database(connections, "run " + run.runId())) {
                new RunFollower(confDirectory, config, database, owner, flink, gauges, submitters, bell).follow(run);
            } catch (InterruptedException e) {
                LOG.info("stopped following: runId={}", run.runId());
            } catch (SQLException | RuntimeException e) {
                giveUp(run, e);
            }
        });
        followed.put(run.runId(), new Followed(thread, bell));
    }

    /** What nobody foresaw ends the run with its reason rather than leaving it to be tried for ever. */
    private void giveUp(Run run, Exception failure) {
        LOG.error("run cannot be followed: runId={}", run.runId(), failure);
        try (Database database = new Database(connections, "run " + run.runId())) {
            database.call(connection ->
                    new RunQueue(connection, owner, config).fail(run, "dispatcher failed: " + failure.getMessage()));
        } catch (SQLException | InterruptedException e) {
            LOG.error("failure cannot be recorded: runId={}", run.runId(), e);
        }
    }

    /** Stops following; the runs' jobs go on, and their leases are given up so that another dispatcher takes over at once. */
    @Override
    public void close() {
        followers.shutdownNow();
        submitters.shutdownNow();
        try {
            if (!followers.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("followers do not stop: count={}", followed.size());
            }
            try (Connection connection = connections.open("run dispatcher")) {
                new RunQueue(connection, owner, config).release();
            }
        } catch (SQLException e) {
            LOG.info("leases run out by themselves: cause={}", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        LOG.info("dispatcher stopped: owner={}", owner);
    }
}
