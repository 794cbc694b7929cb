package io.millrace.train.dispatch;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.millrace.jobs.FlinkRest;
import io.millrace.jobs.FlinkRestException;
import io.millrace.jobs.FlinkUnreachableException;
import io.millrace.jobs.JobState;
import io.millrace.jobs.JobSubmission;
import io.millrace.train.TrainConfig;
import io.millrace.train.TrainJobMain;
import io.millrace.train.job.JobReport;
import io.millrace.train.run.JobId;
import io.millrace.train.run.ModelRecord;
import io.millrace.train.run.Run;
import io.millrace.train.run.RunQueue;
import io.millrace.train.run.RunQueue.Hold;
import io.millrace.train.run.RunReader;
import io.millrace.train.run.RunStatus;
import io.millrace.train.spec.RunRefusedException;
import io.millrace.train.spec.SpecJson;
import io.millrace.train.spec.TrainResult;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The id of an attempt's Flink job follows from the run and the attempt. So a follower never needs to know whether an
 * earlier one got as far as submitting: it looks whether the cluster knows the id, and submits only if it does not and
 * the row says that nobody has seen it running. A job that was seen running and is not known any more is lost, with the
 * cluster's memory of it; then the attempt has failed.
 */

/** Follows one run from its claim to its end. One thread, one connection. */
final class RunFollower {
    private static final Logger LOG = LoggerFactory.getLogger(RunFollower.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long QUICK_POLL_MILLIS = 100;
    /** A cancel is recorded after this long even if the cluster is still at it: it will not be undone. */
    private static final long CANCEL_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1_200);

    private static final long SETTLE_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final long PAUSE_MILLIS = 1_000;

    private final Path confDirectory;
    private final TrainConfig config;
    private final Database database;
    private final String owner;
    private final FlinkRest flink;
    private final JobGauges gauges;
    private final Executor submitter;
    private final RunBell bell;

    RunFollower(
            Path confDirectory,
            TrainConfig config,
            Database database,
            String owner,
            FlinkRest flink,
            JobGauges gauges,
            Executor submitter,
            RunBell bell) {
        this.confDirectory = confDirectory;
        this.config = config;
        this.database = database;
        this.owner = owner;
        this.flink = flink;
        this.gauges = gauges;
        this.submitter = submitter;
        this.bell = bell;
    }

    /** How an attempt ended. */
    private sealed interface Outcome {
        record Finished(String jobId) implements Outcome {}

        record Failed(String reason, boolean refused) implements Outcome {}

        /** The cluster had a slot when the job was submitted, and then had none. */
        record WithoutSlot(String reason) implements Outcome {}

        record Cancelled() implements Outcome {}

        /** Another dispatcher has the run. */
        record Lost() implements Outcome {}
    }

    /** Ends the attempt in the middle of a wait for the cluster. */
    private static final class LetGoException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient Outcome outcome;

        private LetGoException(Outcome outcome) {
            super("attempt is let go");
            this.outcome = outcome;
        }
    }

    /**
     * Brings a run to its end.
     *
     * @throws InterruptedException if this dispatcher stops; the run and its job go on without it
     */
    void follow(Run claimed) throws SQLException, InterruptedException {
        Run run = claimed;
        int tries = TrainConfig.ATTEMPTS;
        long slotDeadline = System.nanoTime() + config.slotWait().toNanos();
        while (true) {
            Run attempt = run;
            LOG.info("following run: runId={}, attempt={}, status={}", run.runId(), run.attempt(), run.status());
            Outcome outcome = outcome(attempt, slotDeadline);
            LOG.info("attempt ended: runId={}, attempt={}, outcome={}", run.runId(), run.attempt(), outcome);
            if (outcome instanceof Outcome.WithoutSlot without) {
                // Not the run's fault: it does not use up a try. Flink may say so at once, again and again.
                tries++;
                bell.await(PAUSE_MILLIS);
                boolean late = System.nanoTime() - slotDeadline > 0;
                outcome = new Outcome.Failed(without.reason(), late);
            }
            if (outcome instanceof Outcome.Cancelled) {
                queue(queue -> queue.cancelled(attempt));
            }
            if (!(outcome instanceof Outcome.Failed failed)) {
                return;
            }
            if (failed.refused() || attempt.attempt() >= tries) {
                queue(queue -> queue.fail(attempt, failed.reason()));
                return;
            }
            Optional<Run> next = queue(queue -> queue.retry(attempt, failed.reason()));
            if (next.isEmpty()) {
                return;
            }
            run = next.get();
        }
    }

    private Outcome outcome(Run run, long slotDeadline) throws SQLException, InterruptedException {
        try {
            Outcome outcome = attempt(run, slotDeadline);
            if (outcome instanceof Outcome.Finished finished) {
                outcome = record(run, finished.jobId());
            }
            // Whatever failed, somebody who cancelled the run wants no other try and no reason.
            boolean failed = outcome instanceof Outcome.Failed || outcome instanceof Outcome.WithoutSlot;
            boolean cancelled = failed && hold(run) == Hold.CANCEL_REQUESTED;
            return cancelled ? new Outcome.Cancelled() : outcome;
        } catch (LetGoException e) {
            return e.outcome;
        }
    }

    private Outcome attempt(Run run, long slotDeadline) throws SQLException, InterruptedException {
        String lineage = database.call(RunReader::lineage);
        String jobId = JobId.of(lineage, run.runId(), run.attempt());
        Optional<JobState> known = awaitAnswer(run, jobId, () -> flink.state(jobId));
        if (known.isEmpty() && run.status() != RunStatus.CLAIMED) {
            return new Outcome.Failed("Flink does not know the job any more: jobId=" + jobId, false);
        }
        if (known.isEmpty()) {
            Hold hold = hold(run);
            if (hold != Hold.HELD) {
                return hold == Hold.LOST ? new Outcome.Lost() : new Outcome.Cancelled();
            }
            if (!awaitSlot(run, jobId, slotDeadline)) {
                return new Outcome.Failed(
                        "Flink must have a free slot: slot-wait-seconds="
                                + config.slotWait().toSeconds() + ", endpoint=" + flink.endpoint(),
                        true);
            }
            queue(queue -> queue.submitting(run, jobId));
            Optional<Outcome> early = submit(run, jobId);
            if (early.isPresent()) {
                return early.get();
            }
        }
        return watch(run, jobId);
    }

    /** Waits until the cluster has a slot to run in; false if it had none until the deadline. */
    private boolean awaitSlot(Run run, String jobId, long slotDeadline) throws SQLException, InterruptedException {
        while (awaitAnswer(run, jobId, flink::freeSlots) == 0) {
            if (System.nanoTime() - slotDeadline > 0) {
                return false;
            }
            letGoUnlessHeld(run, jobId);
            queue(queue -> queue.advance(run, RunStatus.CLAIMED, RunProgress.WAITING_FOR_SLOT, 0));
            bell.await(config.poll().toMillis());
        }
        return true;
    }

    /** Submits; answers how the attempt ended if it ended with that. */
    private Optional<Outcome> submit(Run run, String jobId) throws SQLException, InterruptedException {
        JobSubmission submission = JobSubmission.of(
                jobId,
                TrainJobMain.class.getName(),
                List.of(
                        "--conf",
                        confDirectory.toString(),
                        "--run",
                        Long.toString(run.runId()),
                        "--attempt",
                        Integer.toString(run.attempt())));
        long deadline = System.nanoTime() + config.flinkWait().toNanos();
        while (true) {
            CompletableFuture<Void> submitted =
                    CompletableFuture.runAsync(() -> flink.submit(config.jobJar(), submission), submitter);
            try {
                return awaitSubmission(run, jobId, submitted);
            } catch (FlinkUnreachableException e) {
                if (System.nanoTime() - deadline > 0) {
                    return Optional.of(new Outcome.Failed(Objects.toString(e.getMessage()), false));
                }
                Hold hold = hold(run);
                if (hold != Hold.HELD) {
                    return Optional.of(letGo(run, jobId, hold));
                }
                queue(queue -> queue.advance(run, RunStatus.CLAIMED, "waiting for Flink at " + flink.endpoint(), 0));
                bell.await(config.poll().toMillis());
            } catch (FlinkRestException e) {
                return Optional.of(failed(Objects.toString(e.getMessage())));
            }
        }
    }

    /** A submission takes seconds, and a cancel must not wait for it. */
    private Optional<Outcome> awaitSubmission(Run run, String jobId, CompletableFuture<Void> submitted)
            throws SQLException, InterruptedException {
        CompletableFuture<Void> ignored = submitted.whenComplete((answer, failure) -> bell.answer());
        while (!submitted.isDone()) {
            bell.await(config.poll().toMillis());
            Hold hold = submitted.isDone() ? Hold.HELD : hold(run);
            if (hold == Hold.LOST) {
                return Optional.of(new Outcome.Lost());
            }
            if (hold == Hold.CANCEL_REQUESTED) {
                submitter.execute(() -> cancelWhenSubmitted(submitted, jobId));
                return Optional.of(new Outcome.Cancelled());
            }
        }
        answerOf(submitted);
        return Optional.empty();
    }

    /** What a finished question was answered, or how the cluster refused it. */
    private static <T> T answerOf(CompletableFuture<T> finished) {
        try {
            return finished.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof FlinkRestException refused) {
                throw refused;
            }
            throw new IllegalStateException("question to Flink failed", e.getCause());
        }
    }

    private void cancelWhenSubmitted(CompletableFuture<Void> submitted, String jobId) {
        try {
            submitted.join();
        } catch (CompletionException e) {
            LOG.debug("cancelled run was not submitted: jobId={}", jobId, e);
            if (!(e.getCause() instanceof FlinkUnreachableException)) {
                return;
            }
        }
        cancelUntilEnded(jobId);
    }

    /**
     * Cancels until the job is seen to have ended. A cluster that did not answer may have the job nevertheless, or have it
     * later: it is asked again for as long as a run would have waited for it.
     */
    private void cancelUntilEnded(String jobId) {
        long deadline = System.nanoTime() + config.flinkWait().toNanos();
        try {
            while (System.nanoTime() - deadline < 0) {
                try {
                    Optional<JobState> state = flink.state(jobId);
                    if (state.isPresent() && state.get().terminal()) {
                        return;
                    }
                    if (state.isPresent()) {
                        flink.cancel(jobId);
                    }
                } catch (FlinkRestException e) {
                    LOG.debug("cancel is not heard: jobId={}", jobId, e);
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            }
            LOG.info("cancelled job was not seen to end: jobId={}", jobId);
        } catch (InterruptedException e) {
            LOG.warn("dispatcher stops, a cancelled job may still run: jobId={}", jobId);
        }
    }

    private void cancelQuietly(String jobId) {
        try {
            flink.cancel(jobId);
        } catch (FlinkRestException e) {
            LOG.warn("cancelled job may still run: jobId={}, cause={}", jobId, e.getMessage());
        }
    }

    private Outcome watch(Run run, String jobId) throws SQLException, InterruptedException {
        RunProgress shown = new RunProgress(run.status(), "", -1);
        long cancelledAt = 0;
        while (true) {
            Optional<JobState> state = awaitAnswer(run, jobId, () -> flink.state(jobId));
            if (state.isEmpty()) {
                return new Outcome.Failed("Flink does not know the job any more: jobId=" + jobId, false);
            }
            Hold hold = hold(run);
            if (hold == Hold.LOST) {
                return letGo(run, jobId, hold);
            }
            boolean cancelling = hold == Hold.CANCEL_REQUESTED;
            if (state.get().terminal()) {
                return ended(run, state.get(), jobId, cancelling);
            }
            if (cancelling && cancelledAt == 0) {
                submitter.execute(() -> cancelQuietly(jobId));
                cancelledAt = System.nanoTime();
            } else if (cancelling && System.nanoTime() - cancelledAt > CANCEL_WAIT_NANOS) {
                return letGo(run, jobId, hold);
            } else if (!cancelling) {
                shown = show(run, jobId, shown);
            }
            bell.await(cancelling ? QUICK_POLL_MILLIS : config.poll().toMillis());
        }
    }

    /**
     * Leaves a run whose job may be running. One that another dispatcher has goes on; the job of a cancelled one, and of
     * one whose row is gone with its project, must not.
     *
     * @param hold not {@link Hold#HELD}
     */
    private Outcome letGo(Run run, String jobId, Hold hold) throws SQLException, InterruptedException {
        boolean cancelled = hold == Hold.CANCEL_REQUESTED;
        if (cancelled
                || database.call(connection -> RunReader.read(connection, run.runId()))
                        .isEmpty()) {
            submitter.execute(() -> cancelUntilEnded(jobId));
        }
        return cancelled ? new Outcome.Cancelled() : new Outcome.Lost();
    }

    private void letGoUnlessHeld(Run run, String jobId) throws SQLException, InterruptedException {
        Hold hold = hold(run);
        if (hold != Hold.HELD) {
            throw new LetGoException(letGo(run, jobId, hold));
        }
    }

    private Hold hold(Run run) throws SQLException, InterruptedException {
        bell.heard();
        return queue(queue -> queue.hold(run));
    }

    private RunProgress show(Run run, String jobId, RunProgress shown) throws SQLException, InterruptedException {
        Map<String, String> read = ask(run, jobId, () -> gauges.read(jobId, RunProgress.GAUGES));
        RunProgress now = RunProgress.of(read, run.snapshotRows());
        if (now.fraction() < shown.fraction() || now.equals(shown)) {
            return shown;
        }
        queue(queue -> queue.advance(run, now.status(), now.phase(), now.fraction()));
        return now;
    }

    private Outcome ended(Run run, JobState state, String jobId, boolean cancelling)
            throws SQLException, InterruptedException {
        if (state == JobState.FINISHED) {
            return new Outcome.Finished(jobId);
        }
        if (state == JobState.CANCELED) {
            return cancelling
                    ? new Outcome.Cancelled()
                    : new Outcome.Failed("Flink job was cancelled by somebody else: jobId=" + jobId, true);
        }
        if (cancelling) {
            return new Outcome.Cancelled();
        }
        String reason = settled(run, jobId, () -> flink.failure(jobId))
                .orElse("Flink job failed without a reason: jobId=" + jobId);
        return awaitAnswer(run, jobId, () -> flink.lackedSlots(jobId))
                ? new Outcome.WithoutSlot("Flink had no free slot: " + reason)
                : failed(reason);
    }

    /** Whether trying again is useless is said in the message itself: that is all of an exception that reaches here. */
    private static Outcome.Failed failed(String message) {
        return new Outcome.Failed(RunRefusedException.reason(message), RunRefusedException.isRefusal(message));
    }

    /** Records the model of a finished job. */
    private Outcome record(Run run, String jobId) throws SQLException, InterruptedException {
        Optional<Map<String, String>> complete = settled(
                run,
                jobId,
                () -> Optional.of(flink.accumulators(jobId))
                        .filter(values ->
                                !values.getOrDefault(JobReport.RESULT, "").isEmpty()));
        if (complete.isEmpty()) {
            return new Outcome.Failed("Flink job must report a result: jobId=" + jobId, false);
        }
        Map<String, String> reported = complete.get();
        TrainResult result = SpecJson.parse(reported.getOrDefault(JobReport.RESULT, ""), TrainResult.class);
        ObjectNode facts = facts(reported, result);
        boolean recorded = database.call(connection -> new ModelRecord(connection, owner).succeed(run, result, facts));
        return recorded ? new Outcome.Finished(jobId) : new Outcome.Lost();
    }

    private static ObjectNode facts(Map<String, String> reported, TrainResult result) {
        ObjectNode facts = JSON.createObjectNode();
        for (String name : List.of(
                JobReport.TRAIN_ROWS,
                JobReport.VALIDATION_ROWS,
                JobReport.TEST_ROWS,
                JobReport.UNLABELLED_ROWS,
                JobReport.MATRIX_BYTES)) {
            facts.put(name, Long.parseLong(reported.getOrDefault(name, "0")));
        }
        result.facts().forEach((name, value) -> {
            if (value == Math.rint(value)) {
                facts.put(name, value.longValue());
            } else {
                facts.put(name, value);
            }
        });
        try {
            facts.set(JobReport.LEARNING_CURVE, JSON.readTree(reported.getOrDefault(JobReport.LEARNING_CURVE, "[]")));
        } catch (JsonProcessingException e) {
            LOG.warn("learning curve is not readable", e);
        }
        return facts;
    }

    /**
     * Asks about an ended job until there is an answer. The cluster answers such questions from a copy that is some seconds
     * old, so at first it may still say what was true before the end.
     */
    private <T> Optional<T> settled(Run run, String jobId, Supplier<Optional<T>> question)
            throws SQLException, InterruptedException {
        long deadline = System.nanoTime() + SETTLE_NANOS;
        Optional<T> answer = awaitAnswer(run, jobId, question);
        while (answer.isEmpty() && System.nanoTime() - deadline < 0) {
            bell.await(QUICK_POLL_MILLIS);
            answer = awaitAnswer(run, jobId, question);
        }
        return answer;
    }

    /**
     * Asks the cluster until it answers, or until it has been silent for too long.
     *
     * @throws LetGoException if the run is cancelled or lost meanwhile
     */
    private <T> T awaitAnswer(Run run, String jobId, Supplier<T> question) throws SQLException, InterruptedException {
        long deadline = System.nanoTime() + config.flinkWait().toNanos();
        boolean told = false;
        while (true) {
            try {
                return ask(run, jobId, question);
            } catch (FlinkRestException e) {
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
                if (!told) {
                    LOG.info("waiting for Flink: endpoint={}, cause={}", flink.endpoint(), e.getMessage());
                    told = true;
                }
                letGoUnlessHeld(run, jobId);
            }
            bell.await(config.poll().toMillis());
        }
    }

    /**
     * Asks once, in another thread: a cancel must not wait for a cluster that takes its time.
     *
     * @throws LetGoException if the run is cancelled or lost before the answer
     */
    private <T> T ask(Run run, String jobId, Supplier<T> question) throws SQLException, InterruptedException {
        CompletableFuture<T> asked = CompletableFuture.supplyAsync(question, submitter);
        CompletableFuture<T> ignored = asked.whenComplete((answer, failure) -> bell.answer());
        while (!asked.isDone()) {
            bell.await(config.poll().toMillis());
            if (!asked.isDone()) {
                letGoUnlessHeld(run, jobId);
            }
        }
        return answerOf(asked);
    }

    /** One statement about the run. */
    private interface QueueAction<T> {
        T run(RunQueue queue) throws SQLException;
    }

    private <T> T queue(QueueAction<T> action) throws SQLException, InterruptedException {
        return database.call(connection -> action.run(new RunQueue(connection, owner, config)));
    }
}
