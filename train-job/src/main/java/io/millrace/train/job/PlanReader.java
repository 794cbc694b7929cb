package io.millrace.train.job;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.lake.FittedStore;
import io.millrace.store.ModelStore;
import io.millrace.train.algorithm.Algorithm;
import io.millrace.train.algorithm.Algorithms;
import io.millrace.train.algorithm.HyperParameterException;
import io.millrace.train.algorithm.Objective;
import io.millrace.train.matrix.Sampling;
import io.millrace.train.matrix.SplitSpec;
import io.millrace.train.run.JobId;
import io.millrace.train.run.Run;
import io.millrace.train.spec.DeployedModel;
import io.millrace.train.spec.RunRefusedException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.iceberg.Table;
import org.jspecify.annotations.Nullable;

/** Turns a run as asked for into a plan, or refuses it with the reason. */
public final class PlanReader {
    /** Share of all rows that decide early stopping, when it is asked for. */
    private static final double VALIDATION_SIZE = 0.1;

    private static final ObjectMapper JSON = new ObjectMapper();

    private PlanReader() {}

    /**
     * The plan of a run.
     *
     * @param lineage what run ids are unique in
     * @param table the run's lake table
     * @param deployed the model in force in the run's project; null when there is none
     * @param leftovers packages to be deleted
     * @throws RunRefusedException if the run cannot succeed as it was asked for
     */
    public static TrainPlan plan(
            Path confDirectory,
            Run run,
            String lineage,
            Table table,
            @Nullable DeployedModel deployed,
            List<String> leftovers) {
        Long icebergSnapshotId = run.icebergSnapshotId();
        String lakeTable = run.lakeTable();
        if (icebergSnapshotId == null || lakeTable == null) {
            throw new RunRefusedException(
                    "snapshot must be ready: snapshotId=" + run.snapshotId() + ", relation=" + run.relation());
        }
        FittedPreprocessing fitted = FittedStore.read(table, icebergSnapshotId, run.snapshotId());
        try {
            Algorithm algorithm = Algorithms.of(run.algorithm());
            JsonNode asked = hyperparams(run);
            Map<String, Object> hyperparams = algorithm.check(asked);
            Objective objective = algorithm.objective(
                    objective(run, asked), run.task(), fitted.target().classCount());
            long seed = hyperparams.remove("seed") instanceof Long given ? given : run.seed();
            boolean stopsEarly = hyperparams.get(Algorithms.EARLY_STOPPING_ROUNDS) instanceof Long rounds && rounds > 0;
            return new TrainPlan(
                    confDirectory.toString(),
                    run.database(),
                    ModelStore.directory(
                            JobId.storeName(run.database(), lineage), run.projectId(), run.runId(), run.attempt()),
                    run.projectId(),
                    run.project(),
                    run.runId(),
                    run.attempt(),
                    algorithm.name(),
                    objective.label(),
                    hyperparams,
                    seed,
                    new SplitSpec(
                            run.testSize(), Sampling.of(run.testSampling()), seed, stopsEarly ? VALIDATION_SIZE : 0),
                    lakeTable,
                    table.uuid().toString(),
                    icebergSnapshotId,
                    run.keyColumns(),
                    new String(fitted.toJson(), StandardCharsets.UTF_8),
                    fitted.fittedId(),
                    run.targetColumn(),
                    deployed,
                    leftovers);
        } catch (HyperParameterException e) {
            throw new RunRefusedException(Objects.toString(e.getMessage()));
        }
    }

    private static @Nullable String objective(Run run, JsonNode asked) {
        return asked.path("objective").isTextual() ? asked.path("objective").textValue() : run.objective();
    }

    private static JsonNode hyperparams(Run run) {
        try {
            return JSON.readTree(run.hyperparams());
        } catch (JsonProcessingException e) {
            throw new RunRefusedException("hyper-parameters must be JSON: cause=" + e.getOriginalMessage());
        }
    }
}
