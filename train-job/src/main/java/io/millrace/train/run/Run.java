package io.millrace.train.run;

import io.millrace.contract.Task;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One row of {@code ml.runs} with what it refers to.
 *
 * @param runId identity
 * @param attempt 1 for the first try
 * @param status as of reading
 * @param cancelRequested whether somebody wants it cancelled, as of reading
 * @param database name of the database
 * @param projectId project of the run
 * @param project its name
 * @param task of the project
 * @param algorithm as asked for
 * @param objective as asked for; null for the task's default
 * @param hyperparams JSON object as asked for
 * @param testSize share of rows held out
 * @param testSampling how they are chosen
 * @param seed of split and training
 * @param automaticDeploy whether a better model is deployed at once
 * @param snapshotId the rows
 * @param icebergSnapshotId the same in the lake; null until the snapshot is ready
 * @param snapshotRows rows it has; 0 if not known
 * @param relation the captured table
 * @param lakeTable {@code namespace.table}; null until the table is captured
 * @param targetColumn the label
 * @param keyColumns columns of the key, in order
 */
public record Run(
        long runId,
        int attempt,
        RunStatus status,
        boolean cancelRequested,
        String database,
        long projectId,
        String project,
        Task task,
        String algorithm,
        @Nullable String objective,
        String hyperparams,
        double testSize,
        String testSampling,
        long seed,
        boolean automaticDeploy,
        long snapshotId,
        @Nullable Long icebergSnapshotId,
        long snapshotRows,
        String relation,
        @Nullable String lakeTable,
        String targetColumn,
        List<String> keyColumns) {

    public Run {
        keyColumns = List.copyOf(keyColumns);
    }

    /** Whether it may still be worked on. */
    public boolean wanted() {
        return !cancelRequested && !status.ended();
    }
}
