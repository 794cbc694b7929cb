package io.millrace.train.run;

import io.millrace.train.TrainConfig;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/*
 * A run belongs to the dispatcher whose name is in lease_owner until lease_until. Every change names owner and attempt in
 * its WHERE clause, so a dispatcher that was silent for too long changes nothing any more: it sees that no row was
 * changed and lets go.
 */

/** Changes of {@code ml.runs}, each one statement. Shapes: one connection in autocommit mode, one thread. */
public final class RunQueue {
    private static final String CANCEL_QUEUED = """
            UPDATE ml.runs SET status = 'cancelled', phase = 'cancelled in the queue', finished_at = now()
            WHERE status = 'queued' AND cancel_requested
            """;

    private static final String FAIL_WITHOUT_SNAPSHOT = """
            UPDATE ml.runs r SET status = 'failed', finished_at = now(), phase = 'failed',
                error = CASE s.status WHEN 'dropped' THEN 'snapshot was dropped: snapshotId=' || s.snapshot_id
                    ELSE 'snapshot failed: ' || coalesce(s.error, 'no reason was recorded') END
            FROM ml.snapshots s
            WHERE s.snapshot_id = r.snapshot_id AND r.status = 'queued' AND s.status IN ('failed', 'dropped')
            """;

    private static final String SHOW_WAITING = """
            UPDATE ml.runs r SET phase = 'waiting for snapshot ' || s.snapshot_id || ' (' || s.status || ')'
            FROM ml.snapshots s
            WHERE s.snapshot_id = r.snapshot_id AND r.status = 'queued' AND s.status IN ('requested', 'loading', 'fitting')
                AND r.phase IS DISTINCT FROM 'waiting for snapshot ' || s.snapshot_id || ' (' || s.status || ')'
            """;

    private static final String CLAIM = """
            UPDATE ml.runs SET status = 'claimed', phase = 'claimed', attempt = attempt + 1, lease_owner = ?,
                lease_until = now() + make_interval(secs => ?), started_at = coalesce(started_at, now())
            WHERE run_id = (
                SELECT r.run_id FROM ml.runs r JOIN ml.snapshots s USING (snapshot_id)
                WHERE r.status = 'queued' AND s.status = 'ready' AND NOT r.cancel_requested
                ORDER BY r.run_id LIMIT 1 FOR UPDATE OF r SKIP LOCKED)
            RETURNING run_id
            """;

    private static final String TAKE_OVER = """
            UPDATE ml.runs SET lease_owner = ?, lease_until = now() + make_interval(secs => ?)
            WHERE run_id = (
                SELECT run_id FROM ml.runs
                WHERE status IN ('claimed', 'exporting', 'training', 'evaluating', 'publishing')
                    AND (lease_until IS NULL OR lease_until < now())
                ORDER BY run_id LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING run_id
            """;

    private static final String RENEW = """
            UPDATE ml.runs SET lease_until = now() + make_interval(secs => ?)
            WHERE run_id IN (
                SELECT run_id FROM ml.runs
                WHERE lease_owner = ? AND run_id = ANY (?)
                    AND status IN ('claimed', 'exporting', 'training', 'evaluating', 'publishing')
                FOR UPDATE SKIP LOCKED)
            """;

    private static final String RELEASE = """
            UPDATE ml.runs SET lease_until = now()
            WHERE lease_owner = ? AND status IN ('claimed', 'exporting', 'training', 'evaluating', 'publishing')
            """;

    private static final String OWNED = " WHERE run_id = ? AND lease_owner = ? AND attempt = ?";

    private final Connection connection;
    private final String owner;
    private final double leaseSeconds;

    /**
     * @param owner name of this dispatcher, different for each process
     */
    public RunQueue(Connection connection, String owner, TrainConfig config) {
        this.connection = connection;
        this.owner = owner;
        this.leaseSeconds = config.lease().toMillis() / 1e3;
    }

    /** Ends the queued runs that nobody needs to claim: cancelled ones, and those whose snapshot failed. */
    public void settle() throws SQLException {
        for (String statement : new String[] {CANCEL_QUEUED, FAIL_WITHOUT_SNAPSHOT, SHOW_WAITING}) {
            try (PreparedStatement prepared = connection.prepareStatement(statement)) {
                prepared.executeUpdate();
            }
        }
    }

    /** Takes the oldest run whose dispatcher fell silent, else the oldest queued run whose snapshot is ready. */
    public Optional<Run> take() throws SQLException {
        Optional<Run> orphan = take(TAKE_OVER);
        return orphan.isPresent() ? orphan : take(CLAIM);
    }

    private Optional<Run> take(String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, owner);
            statement.setDouble(2, leaseSeconds);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? RunReader.read(connection, row.getLong(1)) : Optional.empty();
            }
        }
    }

    /**
     * Renews leases of this dispatcher.
     *
     * @param followed ids of the runs that a thread follows; the lease of any other one runs out
     */
    public void renew(Set<Long> followed) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(RENEW)) {
            statement.setDouble(1, leaseSeconds);
            statement.setString(2, owner);
            statement.setArray(3, connection.createArrayOf("bigint", followed.toArray()));
            statement.executeUpdate();
        }
    }

    /** Lets another dispatcher take over at once. */
    public void release() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(RELEASE)) {
            statement.setString(1, owner);
            statement.executeUpdate();
        }
    }

    /** Whether this dispatcher still holds the run, and whether somebody wants it cancelled. */
    public Hold hold(Run run) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT cancel_requested FROM ml.runs" + OWNED)) {
            bindOwned(statement, 1, run);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getBoolean(1) ? Hold.CANCEL_REQUESTED : Hold.HELD : Hold.LOST;
            }
        }
    }

    /** Records the Flink job an attempt is about to have. */
    public boolean submitting(Run run, String jobId) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("UPDATE ml.runs SET flink_job_id = ?, phase = 'submitting'" + OWNED)) {
            statement.setString(1, jobId);
            bindOwned(statement, 2, run);
            return statement.executeUpdate() == 1;
        }
    }

    /** Records where a run is; {@code 0 <= progress <= 1}. */
    public boolean advance(Run run, RunStatus status, String phase, double progress) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "UPDATE ml.runs SET status = ?, phase = ?, progress = greatest(progress, ?)" + OWNED)) {
            statement.setString(1, status.label());
            statement.setString(2, phase);
            statement.setFloat(3, (float) progress);
            bindOwned(statement, 4, run);
            return statement.executeUpdate() == 1;
        }
    }

    /** Begins the next attempt; the answer is the run as it is now, or nothing if it was lost. */
    public Optional<Run> retry(Run run, String reason) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "UPDATE ml.runs SET status = 'claimed', attempt = attempt + 1, flink_job_id = NULL, progress = 0, phase = ?"
                        + OWNED)) {
            statement.setString(1, "trying again after: " + reason);
            bindOwned(statement, 2, run);
            return statement.executeUpdate() == 1 ? RunReader.read(connection, run.runId()) : Optional.empty();
        }
    }

    /** Ends a run that cannot succeed. */
    public boolean fail(Run run, String reason) throws SQLException {
        return end(run, RunStatus.FAILED, "failed", reason);
    }

    /** Ends a run that was cancelled. */
    public boolean cancelled(Run run) throws SQLException {
        return end(run, RunStatus.CANCELLED, "cancelled", null);
    }

    private boolean end(Run run, RunStatus status, String phase, @Nullable String error) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "UPDATE ml.runs SET status = ?, phase = ?, error = ?, finished_at = now(), lease_owner = NULL,"
                        + " lease_until = NULL" + OWNED)) {
            statement.setString(1, status.label());
            statement.setString(2, phase);
            statement.setString(3, error);
            bindOwned(statement, 4, run);
            return statement.executeUpdate() == 1;
        }
    }

    private void bindOwned(PreparedStatement statement, int first, Run run) throws SQLException {
        statement.setLong(first, run.runId());
        statement.setString(first + 1, owner);
        statement.setInt(first + 2, run.attempt());
    }

    /** What a dispatcher may still do with a run. */
    public enum Hold {
        HELD,
        CANCEL_REQUESTED,
        LOST
    }
}
