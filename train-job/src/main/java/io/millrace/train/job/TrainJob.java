package io.millrace.train.job;

import io.millrace.lake.LakeSplit;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/*
 * The job neither checkpoints nor restarts by itself. Its state is the matrix cache and the model store, both written so
 * that a crash leaves nothing half visible; whether a failed run is tried again is decided in one place, by the
 * dispatcher, which counts the tries.
 */

/** Builds the bounded job of one run. */
public final class TrainJob {
    private TrainJob() {}

    /** Flink options of the job. */
    static Configuration options() {
        Configuration options = new Configuration();
        options.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.STREAMING);
        options.set(RestartStrategyOptions.RESTART_STRATEGY, "disable");
        options.removeConfig(CheckpointingOptions.CHECKPOINTING_INTERVAL);
        // Chained functions would be one box in the web UI, with one name and one set of numbers.
        options.set(PipelineOptions.OPERATOR_CHAINING, false);
        return options;
    }

    /**
     * Adds the run's functions to an environment.
     *
     * @param splits of the run's snapshot, one or more, in order
     */
    public static void build(StreamExecutionEnvironment environment, TrainPlan plan, List<LakeSplit> splits)
            throws IOException {
        List<SplitElement> elements = new ArrayList<>(splits.size());
        for (LakeSplit split : splits) {
            elements.add(new SplitElement(elements.size(), splits.size(), serialized(split)));
        }
        TypeInformation<SplitElement> elementType = TypeInformation.of(SplitElement.class);
        environment.configure(options());
        environment.setParallelism(1);
        environment
                .fromData(elements, elementType)
                .name("snapshot " + plan.lakeTable() + " @ " + plan.icebergSnapshotId())
                .process(new ChooseTestRows(plan), elementType)
                .name("choose test rows " + plan.split().sampling().label() + " "
                        + plan.split().testSize())
                .process(new ExportMatrix(plan), Types.STRING)
                .name("export matrix")
                .process(new TrainModel(plan), Types.STRING)
                .name("train and evaluate " + plan.algorithm() + " " + plan.objective());
    }

    private static byte[] serialized(LakeSplit split) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(split);
        }
        return bytes.toByteArray();
    }
}
