package io.millrace.train.job;

import io.millrace.train.child.TrainChildMain;
import io.millrace.train.matrix.MatrixCache.CachedMatrix;
import io.millrace.train.matrix.MatrixCache.Scratch;
import io.millrace.train.matrix.MatrixKey;
import io.millrace.train.matrix.MatrixSet;
import io.millrace.train.matrix.Part;
import io.millrace.train.spec.Comparison;
import io.millrace.train.spec.DeployedModel;
import io.millrace.train.spec.Progress;
import io.millrace.train.spec.RunRefusedException;
import io.millrace.train.spec.SpecJson;
import io.millrace.train.spec.TrainResult;
import io.millrace.train.spec.TrainSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the child JVM on a matrix, follows its progress and reports its result. Cancelling the job kills the child. */
final class TrainModel extends ProcessFunction<String, String> {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(TrainModel.class);
    private static final int SIGNAL_EXIT = 128;

    private final String planJson;
    private final LongCounter trainRows = new LongCounter();
    private final LongCounter validationRows = new LongCounter();
    private final LongCounter testRows = new LongCounter();
    private final LongCounter unlabelledRows = new LongCounter();
    private final LongCounter matrixBytes = new LongCounter();
    private final LatestText result = new LatestText();
    private final LatestText phase = new LatestText();
    private final LatestText learningCurve = new LatestText();
    private final LearningCurve curve = new LearningCurve();
    private volatile @Nullable Progress latest;
    private transient @Nullable JobMachine machine;

    TrainModel(TrainPlan plan) {
        this.planJson = plan.toJson();
    }

    @Override
    public void open(OpenContext context) throws Exception {
        machine = JobMachine.of(TrainPlan.parse(planJson));
        RuntimeContext runtime = getRuntimeContext();
        runtime.addAccumulator(JobReport.TRAIN_ROWS, trainRows);
        runtime.addAccumulator(JobReport.VALIDATION_ROWS, validationRows);
        runtime.addAccumulator(JobReport.TEST_ROWS, testRows);
        runtime.addAccumulator(JobReport.UNLABELLED_ROWS, unlabelledRows);
        runtime.addAccumulator(JobReport.MATRIX_BYTES, matrixBytes);
        runtime.addAccumulator(JobReport.RESULT, result);
        runtime.addAccumulator(JobReport.PHASE, phase);
        runtime.addAccumulator(JobReport.LEARNING_CURVE, learningCurve);
        MetricGroup metrics = runtime.getMetricGroup();
        metrics.gauge(JobReport.PHASE, phase::getLocalValue);
        metrics.gauge(JobReport.ROUND, () -> latest == null ? 0 : latest.round());
        metrics.gauge(JobReport.TRAIN_METRIC, () -> latest == null ? Double.NaN : latest.trainValue());
        metrics.gauge(JobReport.VALIDATION_METRIC, () -> latest == null ? Double.NaN : latest.validationValue());
        metrics.gauge(JobReport.PEAK_ANONYMOUS_BYTES, () -> latest == null ? 0 : latest.peakAnonymousBytes());
    }

    @Override
    public void processElement(String exportedJson, Context context, Collector<String> out) throws Exception {
        JobMachine here = Objects.requireNonNull(machine);
        TrainPlan plan = TrainPlan.parse(planJson);
        Comparison settled = ExportedMatrix.parse(exportedJson).settled();
        MatrixKey deployedKey = settled == null ? plan.deployedKey() : null;
        try (CachedMatrix matrix = here.cachedMatrix(plan.matrixKey());
                CachedMatrix deployedRows = deployedKey == null ? null : here.cachedMatrix(deployedKey);
                Scratch scratch = here.cache().scratch(plan.scratchName())) {
            MatrixSet set = matrix.set();
            trainRows.add(set.trainRows());
            validationRows.add(set.validationRows());
            testRows.add(set.testRows());
            unlabelledRows.add(set.unlabelledRows());
            matrixBytes.add(set.bytes());
            new Preflight(here.config()).checkMemory(set);
            DeployedModel deployed = settled == null ? plan.deployed() : null;
            TrainSpec spec = spec(
                    here, plan, matrix, deployed, deployedRows == null ? matrix : deployedRows, scratch.directory());
            TrainResult trained = train(here, spec, scratch.directory(), set.testRows());
            result.add(SpecJson.line(settled == null ? trained : trained.comparedWith(settled)));
        }
        out.collect(result.getLocalValue());
    }

    private TrainResult train(JobMachine machine, TrainSpec spec, Path work, long testRows)
            throws IOException, InterruptedException {
        Path specFile = work.resolve("spec.json");
        SpecJson.write(specFile, spec);
        List<String> command = ChildProcess.command(
                machine.config(),
                TrainChildMain.TRAIN,
                specFile,
                work,
                ChildProcess.heapBytes(testRows, spec.deployed()));
        // Until the child speaks: the export is over.
        show(Progress.phase(Progress.Phase.LOADING, 0, 0));
        try (ChildProcess child = ChildProcess.start(machine.config(), command, work)) {
            follow(child);
            return finished(child, work);
        }
    }

    private static TrainSpec spec(
            JobMachine machine,
            TrainPlan plan,
            CachedMatrix matrix,
            @Nullable DeployedModel deployed,
            CachedMatrix deployedRows,
            Path work) {
        Path directory = matrix.directory();
        return new TrainSpec(
                plan.database(),
                plan.projectId(),
                plan.project(),
                plan.runId(),
                plan.attempt(),
                plan.algorithm(),
                plan.objective(),
                plan.hyperparams(),
                plan.seed(),
                plan.fittedId(),
                directory.resolve(MatrixSet.FITTED_FILE).toString(),
                matrix.set().shards(directory, Part.TRAIN),
                matrix.set().shards(directory, Part.VALIDATION),
                matrix.set().shards(directory, Part.TEST),
                work.toString(),
                plan.storeDirectory(),
                plan.confDirectory(),
                machine.config().childThreads(),
                deployed,
                deployedRows.set().shards(deployedRows.directory(), Part.TEST),
                machine.packageCache().toString(),
                plan.leftovers());
    }

    private void follow(ChildProcess child) throws InterruptedException {
        Progress line = child.next();
        while (line != null) {
            latest = line;
            show(line);
            if (line.metric() != null) {
                curve.add(line.round(), line.trainValue(), line.validationValue());
                learningCurve.add(curve.toJson());
            }
            line = child.next();
        }
    }

    private void show(Progress line) {
        phase.add(line.phase().name().toLowerCase(Locale.ROOT) + " " + line.round() + "/" + line.rounds() + " "
                + Objects.toString(line.metric(), ""));
    }

    /** The result, or why there is none. */
    private TrainResult finished(ChildProcess child, Path work) throws IOException {
        Path file = work.resolve(TrainSpec.RESULT_FILE);
        if (child.exitCode() == 0 && Files.exists(file)) {
            return SpecJson.read(file, TrainResult.class);
        }
        LOG.warn("child failed: pid={}, exitCode={}, output={}", child.pid(), child.exitCode(), child.errorTail());
        Progress last = latest;
        if (last != null && last.message() != null) {
            if (last.refused()) {
                throw new RunRefusedException(last.message());
            }
            throw new IOException(last.message());
        }
        String how = child.exitCode() > SIGNAL_EXIT
                ? "training process was killed: signal=" + (child.exitCode() - SIGNAL_EXIT)
                : "training process ended without a result: exitCode=" + child.exitCode();
        throw new IOException(how + ", phase=" + phase.getLocalValue().strip() + ", peakAnonymousBytes="
                + (last == null ? 0 : last.peakAnonymousBytes()));
    }
}
