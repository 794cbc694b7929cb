package io.millrace.train.job;

import io.millrace.train.matrix.MatrixKey;
import io.millrace.train.matrix.SplitSpec;
import io.millrace.train.spec.DeployedModel;
import io.millrace.train.spec.SpecJson;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Everything the functions of one job need to know; travels inside the job as text. Holds no secret: each task reads the
 * configuration directory of its own machine.
 *
 * @param confDirectory directory of the properties files
 * @param database name of the database the run is queued in
 * @param storeDirectory where in the model store the package goes
 * @param projectId project of the run
 * @param project its name
 * @param runId the run
 * @param attempt 1 for the first try
 * @param algorithm canonical name
 * @param objective the library's name of it
 * @param hyperparams checked, by canonical name
 * @param seed of the split and of sampling inside training
 * @param split the parts
 * @param lakeTable {@code namespace.table}
 * @param tableUuid tells it from an earlier table of that name
 * @param icebergSnapshotId the rows
 * @param keyColumns columns of the key, in order
 * @param fitted JSON of the fitted preprocessing
 * @param fittedId its identity
 * @param targetColumn the label
 * @param deployed the model in force, to be scored on the same test rows; null when there is none
 * @param leftovers packages of ended attempts that no model refers to, to be deleted
 */
public record TrainPlan(
        String confDirectory,
        String database,
        String storeDirectory,
        long projectId,
        String project,
        long runId,
        int attempt,
        String algorithm,
        String objective,
        Map<String, Object> hyperparams,
        long seed,
        SplitSpec split,
        String lakeTable,
        String tableUuid,
        long icebergSnapshotId,
        List<String> keyColumns,
        String fitted,
        String fittedId,
        String targetColumn,
        @Nullable DeployedModel deployed,
        List<String> leftovers) {

    /** Files each part of the matrix is spread over: one exporter writes them. */
    private static final int SHARDS = 1;

    /** What the exported matrix depends on. */
    MatrixKey matrixKey() {
        return new MatrixKey(lakeTable + " " + tableUuid, icebergSnapshotId, fittedId, targetColumn, split, SHARDS);
    }

    /**
     * What the test rows depend on as the deployed model sees them: its own preprocessing, and the new model's label. Null
     * when it sees them as the new model does, and when there is none.
     */
    @Nullable
    MatrixKey deployedKey() {
        return deployed == null || deployed.fittedId().equals(fittedId)
                ? null
                : new MatrixKey(
                        lakeTable + " " + tableUuid,
                        icebergSnapshotId,
                        deployed.fittedId() + " tested as " + fittedId,
                        targetColumn,
                        split,
                        SHARDS);
    }

    /** Name of the job in Flink's web UI, and of the attempt's scratch directories. */
    public String jobName() {
        return "train " + project + " #" + runId + " " + algorithm;
    }

    String scratchName() {
        return "run-" + runId + "-" + attempt;
    }

    String toJson() {
        return SpecJson.line(this);
    }

    static TrainPlan parse(String json) {
        return SpecJson.parse(json, TrainPlan.class);
    }
}
