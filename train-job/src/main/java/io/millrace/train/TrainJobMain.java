package io.millrace.train;

import io.millrace.contract.ContractException;
import io.millrace.jobs.JobSettings;
import io.millrace.lake.Lake;
import io.millrace.lake.LakeConfig;
import io.millrace.lake.LakeSplit;
import io.millrace.lake.SnapshotScan;
import io.millrace.train.job.PlanReader;
import io.millrace.train.job.TrainJob;
import io.millrace.train.job.TrainPlan;
import io.millrace.train.run.Run;
import io.millrace.train.run.RunReader;
import io.millrace.train.spec.DeployedModel;
import io.millrace.train.spec.RunRefusedException;
import java.sql.Connection;
import java.util.List;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.iceberg.Table;

/**
 * Entry of a run's Flink job: {@code --conf DIR --run ID --attempt N}. The run must have been claimed for that attempt;
 * its rows, preprocessing and parameters are read from the database and the lake.
 */
public final class TrainJobMain {
    private TrainJobMain() {}

    public static void main(String[] args) throws Exception {
        try {
            submit(args);
        } catch (ContractException e) {
            throw RunRefusedException.of(e);
        }
    }

    private static void submit(String[] args) throws Exception {
        JobSettings settings = JobSettings.parse(args);
        long runId = Long.parseLong(settings.required("run"));
        int attempt = Integer.parseInt(settings.required("attempt"));
        Run run;
        String lineage;
        DeployedModel deployed;
        List<String> leftovers;
        try (Connection connection = settings.database().open("train job")) {
            run = RunReader.read(connection, runId)
                    .orElseThrow(() -> new RunRefusedException("run does not exist: runId=" + runId));
            lineage = RunReader.lineage(connection);
            deployed = RunReader.deployedModel(connection, run.projectId()).orElse(null);
            leftovers = RunReader.leftovers(connection, lineage);
        }
        if (run.attempt() != attempt) {
            throw new RunRefusedException("run must be at the attempt it is submitted for: runId=" + runId
                    + ", attempt=" + attempt + ", runAttempt=" + run.attempt());
        }
        if (!run.wanted()) {
            // A submission whose answer was lost may arrive after the run was cancelled.
            throw new RunRefusedException("run must not have ended: runId=" + runId + ", status="
                    + run.status().label() + ", cancelRequested=" + run.cancelRequested());
        }
        try (Lake lake = Lake.open(LakeConfig.from(settings.file("lake"), settings.file("database")))) {
            Table table = lake.table(String.valueOf(run.lakeTable()));
            TrainPlan plan = PlanReader.plan(
                    settings.confDirectory().toAbsolutePath(), run, lineage, table, deployed, leftovers);
            List<LakeSplit> splits = SnapshotScan.plan(table, plan.icebergSnapshotId());
            if (splits.isEmpty()) {
                throw new RunRefusedException("snapshot must have rows: snapshotId=" + run.snapshotId());
            }
            StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
            TrainJob.build(environment, plan, splits);
            environment.executeAsync(plan.jobName());
        }
    }
}
