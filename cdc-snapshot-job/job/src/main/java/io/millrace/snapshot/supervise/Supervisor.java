package io.millrace.snapshot.supervise;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.contract.ContractException;
import io.millrace.jobs.FlinkRest;
import io.millrace.jobs.FlinkRestException;
import io.millrace.jobs.FlinkUnreachableException;
import io.millrace.jobs.JobState;
import io.millrace.jobs.JobSubmission;
import io.millrace.lake.Lake;
import io.millrace.lake.LakeConfig;
import io.millrace.snapshot.CapturedTables;
import io.millrace.snapshot.LakeTables;
import io.millrace.snapshot.Slots;
import io.millrace.snapshot.SnapshotJobMain;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * One step looks at what is wanted (the table), what was started last (the file) and what runs (the cluster), and does the next
 * thing that brings them together. Every step may be the first after a crash:
 *
 *   file written, job not submitted   the cluster does not know the job: it is started from the path in the file
 *   job stopped, file not written     the job has ended: its savepoint is found in its own directory
 *   job lost with its cluster         its newest checkpoint is found in its own directory
 *
 * What a job has left is kept until its successor has a checkpoint of its own: until then the successor may still start from it.
 *
 * A state names the tables that were loaded before it, and a job that starts from it does not load these. So a table joins only
 * where the state is that of the job before, which had not got the table: an older one may know another table of that name,
 * released or dropped since. And a job that has just started is given the time to leave a state.
 */
/** Brings the change job to the tables that are wanted, one step at a time. */
final class Supervisor {
    private static final Logger LOG = LoggerFactory.getLogger(Supervisor.class);
    private static final Duration CANCEL_LIMIT = Duration.ofSeconds(60);
    private static final Duration FIRST_STATE_LIMIT = Duration.ofSeconds(60);

    private final SupervisorConfig config;
    private final LakeConfig lakeConfig;
    private final Path confDirectory;
    private final FlinkRest flink;
    private final RestorePoint restorePoint;
    private SupervisorState state;
    private @Nullable String lastFailure;
    private long startedNanos = System.nanoTime();

    Supervisor(SupervisorConfig config, LakeConfig lakeConfig, Path confDirectory, FlinkRest flink) {
        this.config = config;
        this.lakeConfig = lakeConfig;
        this.confDirectory = confDirectory;
        this.flink = flink;
        this.restorePoint = new RestorePoint(flink, config.job().checkpointUri(), config.savepointUri());
        this.state = SupervisorState.read(config.stateDirectory());
    }

    /**
     * Looks once and does what is due.
     *
     * @throws SQLException if the database is away
     * @throws FlinkRestException if the cluster is away or refuses
     * @throws IOException if a checkpoint directory cannot be read
     */
    void step(Connection connection) throws SQLException, IOException, InterruptedException {
        List<CapturedTables.Row> rows = CapturedTables.read(connection);
        failVanished(connection, rows);
        noteLoaded(rows);
        CapturePlan plan = CapturePlan.of(rows, state.relations(), state.loaded());
        if (plan.relations().isEmpty() && plan.restart()) {
            letGo(connection);
        } else if (plan.restart()) {
            replace(connection, plan);
        } else if (!plan.relations().isEmpty()) {
            keepRunning(connection);
        }
        removeReleased(connection, rows);
        CapturedTables.failOrphanedRequests(connection);
        deleteOutlived();
    }

    /** The extension is gone: nothing is captured any more. */
    void extensionGone(Connection connection) throws SQLException, IOException, InterruptedException {
        if (state.job().isPresent() || Slots.usable(connection, config.job().slotName())) {
            letGo(connection);
        }
    }

    /** Ends the job with a savepoint, to be continued by the next supervisor. */
    void stopJob() throws InterruptedException {
        Optional<String> job = state.job();
        if (job.isPresent() && isAlive(job.get())) {
            save(state.restorableFrom(stop(job.get())));
        }
    }

    private void failVanished(Connection connection, List<CapturedTables.Row> rows) throws SQLException {
        for (CapturedTables.Row row : rows) {
            String relation = row.table().relation();
            boolean live = !row.status().equals("failed") && !row.status().equals("dropping");
            if (live && !row.present()) {
                LOG.warn("captured table no longer exists: relation={}", relation);
                CapturedTables.fail(connection, relation, "table was dropped or renamed: relation=" + relation);
            }
        }
    }

    private void noteLoaded(List<CapturedTables.Row> rows) {
        Set<String> loaded = new TreeSet<>(state.loaded());
        for (CapturedTables.Row row : rows) {
            if (row.status().equals("streaming")) {
                loaded.add(row.table().relation());
            }
        }
        loaded.retainAll(state.relations());
        if (!loaded.equals(state.loaded())) {
            save(state.withLoaded(loaded));
        }
    }

    private void keepRunning(Connection connection) throws SQLException, IOException, InterruptedException {
        String job = state.job().orElseThrow();
        Optional<JobState> running = flink.state(job);
        if (running.isPresent() && !running.get().terminal()) {
            if (hasLostItsSlot(connection, job)) {
                replace(connection, new CapturePlan(state.relations(), true, true));
            } else {
                reportTrouble(connection, job, running.get());
            }
            return;
        }
        LOG.warn(
                "change job is not running: jobId={}, state={}",
                job,
                running.map(Enum::name).orElse("unknown"));
        if (running.isEmpty() && isUnderWay(connection, job)) {
            submit(connection, job);
        } else {
            start(connection, state.relations(), restorePath(job));
        }
    }

    /** A job without any state makes the slot itself; one that has some cannot go on without the log that the slot kept. */
    private boolean hasLostItsSlot(Connection connection, String job) throws SQLException, IOException {
        return !Slots.usable(connection, config.job().slotName()) && hasState(job);
    }

    private boolean hasState(String job) throws IOException {
        return state.restorePath() != null || restorePoint.newestOwn(job).isPresent();
    }

    /**
     * Whether the cluster may still be taking the job that was submitted last: it has left no state yet, and what it starts from is
     * there. Submitted again under its own id it runs once; under another id two jobs would write the same rows.
     */
    private boolean isUnderWay(Connection connection, String job) throws SQLException, IOException {
        if (restorePoint.newest(job).isPresent()) {
            return false;
        }
        String from = state.restorePath();
        return from == null
                || (RestorePoint.exists(from)
                        && Slots.usable(connection, config.job().slotName()));
    }

    /** A job that fails again and again says so where the user looks. */
    private void reportTrouble(Connection connection, String job, JobState running) throws SQLException {
        String failure = running == JobState.RUNNING ? null : flink.failure(job).orElse(null);
        boolean settled = running == JobState.RUNNING || running == JobState.RESTARTING || running == JobState.FAILING;
        if (settled && !Objects.equals(failure, lastFailure)) {
            lastFailure = failure;
            String text = failure == null
                    ? null
                    : "change job is " + running.name().toLowerCase(Locale.ROOT) + ": " + failure;
            if (text != null) {
                LOG.warn("{}", text);
            }
            CapturedTables.note(connection, state.relations(), text);
        }
    }

    private void replace(Connection connection, CapturePlan plan)
            throws SQLException, IOException, InterruptedException {
        Optional<String> job = state.job();
        String path = null;
        if (job.isPresent() && plan.afresh()) {
            cancel(job.get());
        } else if (job.isPresent()) {
            if (isAlive(job.get())) {
                if (isStarting(job.get())) {
                    return;
                }
                stopOrCancel(job.get());
            }
            path = restorePath(job.get());
        }
        start(connection, plan.relations(), path);
    }

    /** Whether the job will leave its first state soon, as far as one can see. */
    private boolean isStarting(String job) throws IOException {
        return System.nanoTime() - startedNanos < FIRST_STATE_LIMIT.toNanos()
                && restorePoint.newestOwn(job).isEmpty()
                && flink.failure(job).isEmpty();
    }

    /** Of some tables those that a job which starts from a path may have. */
    private List<String> joinable(List<String> relations, @Nullable String path, Optional<String> last)
            throws IOException {
        if (path == null || last.isEmpty() || restorePoint.newestOwn(last.get()).isPresent()) {
            return relations;
        }
        return relations.stream().filter(state.relations()::contains).toList();
    }

    private @Nullable String restorePath(String job) throws IOException {
        Optional<String> newest = restorePoint.newest(job);
        if (newest.isPresent()) {
            return newest.get();
        }
        String path = state.restorePath();
        return path != null && RestorePoint.exists(path) ? path : null;
    }

    /** Starts a job with {@code relations}; without a path, or without the slot that the path needs, every table is loaded again. */
    private void start(Connection connection, List<String> relations, @Nullable String path)
            throws SQLException, IOException {
        String slot = config.job().slotName();
        Optional<String> last = state.job();
        boolean hadState = path != null || (last.isPresent() && hasState(last.get()));
        boolean lost = hadState && !Slots.usable(connection, slot);
        String from = lost ? null : path;
        if (from == null && !Slots.drop(connection, slot)) {
            // Tables are loaded from now on: older log is of no use, and an invalidated slot has none.
            throw new IllegalStateException("replication slot must be free before it is made anew: slot=" + slot);
        }
        Set<String> kept = new TreeSet<>(from == null ? Set.of() : state.relations());
        List<String> ready = prepare(connection, joinable(relations, from, last), kept);
        if (ready.isEmpty()) {
            forgetJobs();
            return;
        }
        Slots.dropOrphans(connection, slot);
        kept.retainAll(state.loaded());
        kept.retainAll(ready);
        String job = UUID.randomUUID().toString().replace("-", "");
        save(new SupervisorState(job, ready, kept, from, last.isPresent() ? formerJobs(last.get()) : List.of()));
        CapturedTables.load(connection, ready, kept);
        if (lost) {
            String text = "replication slot was dropped or invalidated, every table is loaded again: slot=" + slot;
            LOG.warn("{}", text);
            CapturedTables.note(connection, ready, text);
        }
        submit(connection, job);
    }

    /** The jobs whose state is to be deleted once the next one has its own: the last one, and before that none that it outlived. */
    private List<String> formerJobs(String last) throws IOException {
        if (restorePoint.newestOwn(last).isPresent()) {
            deleteFormer();
            return List.of(last);
        }
        restorePoint.delete(last);
        return state.former();
    }

    private void deleteOutlived() throws IOException {
        Optional<String> job = state.job();
        if (job.isPresent()
                && !state.former().isEmpty()
                && restorePoint.newestOwn(job.get()).isPresent()) {
            deleteFormer();
        }
    }

    private void deleteFormer() throws IOException {
        for (String job : state.former()) {
            restorePoint.delete(job);
            LOG.info("checkpoints of a former job are deleted: jobId={}", job);
        }
        save(state.withFormer(List.of()));
    }

    /**
     * Makes the lake tables ready, those that are to be loaded empty and with the columns of their source. A table that the lake
     * cannot carry fails alone.
     *
     * @return the tables that are ready
     */
    private List<String> prepare(Connection connection, List<String> relations, Set<String> kept) throws SQLException {
        List<String> loading =
                relations.stream().filter(relation -> !kept.contains(relation)).toList();
        CapturedTables.refreshColumns(connection, loading);
        List<String> ready = new ArrayList<>();
        try (Lake lake = Lake.open(lakeConfig)) {
            for (CapturedTables.Row row : CapturedTables.read(connection)) {
                String relation = row.table().relation();
                if (!relations.contains(relation)) {
                    continue;
                }
                if (row.veiled() && loading.contains(relation)) {
                    CapturedTables.fail(
                            connection,
                            relation,
                            "row-level security hides rows from the change job, its role must have BYPASSRLS: relation="
                                    + relation);
                    continue;
                }
                try {
                    LakeTables.prepare(connection, lake, row.table());
                    if (loading.contains(relation)) {
                        LakeTables.clear(lake, row.table());
                    }
                    ready.add(relation);
                } catch (ContractException e) {
                    LOG.warn("table cannot be captured: relation={}, cause={}", relation, e.getMessage());
                    CapturedTables.fail(connection, relation, String.valueOf(e.getMessage()));
                }
            }
        }
        return ready;
    }

    /** Submits the job that {@link #state} describes. */
    private void submit(Connection connection, String job) throws SQLException {
        String from = state.restorePath();
        JobSubmission submission = JobSubmission.of(job, SnapshotJobMain.class.getName(), arguments(state.relations()));
        try {
            flink.submit(config.jobJar(), from == null ? submission : submission.restoredFrom(from));
            startedNanos = System.nanoTime();
            LOG.info(
                    "change job is started: jobId={}, tables={}, restorePath={}",
                    job,
                    state.relations().size(),
                    from);
        } catch (FlinkUnreachableException e) {
            throw e;
        } catch (FlinkRestException e) {
            CapturedTables.note(connection, state.relations(), "change job cannot be started: " + e.getMessage());
            throw e;
        }
    }

    private List<String> arguments(List<String> relations) {
        try {
            String json = new ObjectMapper().writeValueAsString(new ArrayList<>(relations));
            return List.of("--conf", confDirectory.toAbsolutePath().toString(), "--relations", json);
        } catch (JsonProcessingException e) {
            throw new AssertionError("a list of text is JSON", e);
        }
    }

    private void letGo(Connection connection) throws SQLException, IOException, InterruptedException {
        Optional<String> job = state.job();
        if (job.isPresent()) {
            cancel(job.get());
        }
        Slots.dropOrphans(connection, config.job().slotName());
        if (Slots.drop(connection, config.job().slotName())) {
            LOG.info(
                    "nothing is captured: the replication slot is dropped: slot={}",
                    config.job().slotName());
            forgetJobs();
        }
    }

    /** Without the slot nothing can be continued. */
    private void forgetJobs() throws IOException {
        deleteFormer();
        if (state.job().isPresent()) {
            restorePoint.delete(state.job().get());
        }
        save(SupervisorState.NONE);
    }

    private void removeReleased(Connection connection, List<CapturedTables.Row> rows) throws SQLException {
        for (CapturedTables.Row row : rows) {
            String relation = row.table().relation();
            if (row.status().equals("dropping") && !state.relations().contains(relation)) {
                CapturedTables.remove(connection, relation);
            }
        }
    }

    private boolean isAlive(String job) {
        return flink.state(job).map(found -> !found.terminal()).orElse(false);
    }

    /** A job that fails again and again cannot take a savepoint: it is cancelled, and continued from its newest checkpoint. */
    private void stopOrCancel(String job) throws InterruptedException {
        try {
            save(state.restorableFrom(stop(job)));
        } catch (FlinkUnreachableException e) {
            throw e;
        } catch (FlinkRestException e) {
            LOG.warn("change job is cancelled, since it takes no savepoint: jobId={}, cause={}", job, e.getMessage());
            cancel(job);
        }
    }

    private String stop(String job) throws InterruptedException {
        LOG.info("change job is stopped with a savepoint: jobId={}", job);
        return flink.stopWithSavepoint(
                job, restorePoint.savepointDirectory(job), Duration.ofMillis(config.savepointMillis()));
    }

    private void cancel(String job) throws InterruptedException {
        if (isAlive(job)) {
            flink.cancel(job);
            Optional<JobState> end = flink.awaitEnd(job, CANCEL_LIMIT);
            if (end.isPresent() && !end.get().terminal()) {
                // It may still commit: nothing may be cleared or started beside it.
                throw new FlinkRestException("change job must end when it is cancelled: jobId=" + job + ", state="
                        + end.get() + ", limitSeconds=" + CANCEL_LIMIT.toSeconds());
            }
        }
    }

    private void save(SupervisorState next) {
        next.write(config.stateDirectory());
        state = next;
    }
}
