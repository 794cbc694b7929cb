package io.millrace.snapshot.publish;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.util.SnapshotUtil;
import org.jspecify.annotations.Nullable;

/**
 * Finds the lake snapshot that answers a request: the newest one without a change that came after the request. Commits of
 * others (compaction, say) do not change rows, so they count when no later change lies below them.
 */
final class CommitSearch {
    private static final String JOB_ID = "flink.job-id";
    private static final String CHECKPOINT_ID = "flink.max-committed-checkpoint-id";

    /** What a search can say. */
    sealed interface Answer {
        /** The snapshot is there. */
        record Found(long icebergSnapshotId) implements Answer {}

        /** The commit that the request waits for is still to come. */
        record NotCommitted() implements Answer {}

        /** The commit that the request waits for, or every one before the request, has been there and is no longer. */
        record Gone() implements Answer {}
    }

    private final Map<String, Integer> runOrder = new HashMap<>();

    /** A search that knows the job's runs, oldest first. */
    CommitSearch(List<String> runs) {
        for (int i = 0; i < runs.size(); i++) {
            runOrder.put(runs.get(i), i);
        }
    }

    /**
     * Searches the history of {@code table}, which the caller has refreshed.
     *
     * @param overdue whether the commit that the request waits for must have been there before the refresh
     */
    Answer find(Table table, PublishRequest request, boolean overdue) {
        CommitMark awaited = request.awaited();
        @Nullable Snapshot candidate = null;
        @Nullable Snapshot found = null;
        Snapshot current = table.currentSnapshot();
        Iterable<Snapshot> history =
                current == null ? List.of() : SnapshotUtil.ancestorsOf(current.snapshotId(), table::snapshot);
        for (Snapshot snapshot : history) {
            candidate = candidate == null ? snapshot : candidate;
            OptionalLong checkpoint = checkpoint(snapshot);
            if (checkpoint.isEmpty()) {
                continue;
            }
            String jobId = snapshot.summary().getOrDefault(JOB_ID, "");
            boolean later = isLater(jobId, checkpoint.getAsLong(), request.taken());
            if (awaited != null && !later && answers(jobId, checkpoint.getAsLong(), awaited)) {
                // Not the last word: the oldest one has the rows of the mark, and the fewest others.
                found = candidate;
            }
            if (awaited != null || later) {
                candidate = null;
            }
        }
        if (found != null) {
            return new Answer.Found(found.snapshotId());
        }
        if (awaited != null) {
            return overdue ? new Answer.Gone() : new Answer.NotCommitted();
        }
        return candidate == null ? new Answer.Gone() : new Answer.Found(candidate.snapshotId());
    }

    /** Whether a commit has the rows of the awaited one: those of a checkpoint that was given up come with a later one. */
    private static boolean answers(String jobId, long checkpointId, CommitMark awaited) {
        return jobId.equals(awaited.jobId()) && checkpointId >= awaited.checkpointId();
    }

    private boolean isLater(String jobId, long checkpointId, @Nullable CommitMark taken) {
        if (taken == null) {
            return false;
        }
        if (jobId.equals(taken.jobId())) {
            return checkpointId > taken.checkpointId();
        }
        return runOrder.getOrDefault(jobId, -1) > runOrder.getOrDefault(taken.jobId(), -1);
    }

    private static OptionalLong checkpoint(Snapshot snapshot) {
        String text = snapshot.summary().get(CHECKPOINT_ID);
        return text == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(text));
    }
}
