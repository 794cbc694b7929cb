package io.millrace.train.job;

import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.train.matrix.MatrixCache.CachedMatrix;
import io.millrace.train.matrix.SplitRule;
import io.millrace.train.spec.RunRefusedException;
import io.millrace.train.spec.SpecJson;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Transforms rows to feature vectors and writes them to matrix shards; when the last is written the matrix goes into the
 * cache, and its directory's name goes on.
 */
final class ExportMatrix extends ProcessFunction<SplitElement, String> {
    private static final long serialVersionUID = 1L;

    private final String planJson;
    private final LongCounter rowsExported = new LongCounter();
    private transient @Nullable JobMachine machine;
    private transient @Nullable MatrixExport export;
    private transient @Nullable CachedMatrix finished;

    ExportMatrix(TrainPlan plan) {
        this.planJson = plan.toJson();
    }

    @Override
    public void open(OpenContext context) throws Exception {
        machine = JobMachine.of(TrainPlan.parse(planJson));
        getRuntimeContext().addAccumulator(JobReport.ROWS_EXPORTED, rowsExported);
        getRuntimeContext().getMetricGroup().gauge(JobReport.ROWS_EXPORTED, rowsExported::getLocalValue);
    }

    @Override
    public void processElement(SplitElement element, Context context, Collector<String> out) throws Exception {
        JobMachine here = Objects.requireNonNull(machine);
        TrainPlan plan = TrainPlan.parse(planJson);
        if (element.rule.isEmpty()) {
            Optional<CachedMatrix> cached = here.cache().find(plan.matrixKey());
            finished = cached.orElseThrow(() -> new IOException("matrix was evicted before it could be used"));
            out.collect(finished.directory().toString());
            return;
        }
        if (export == null) {
            SplitRule rule = SpecJson.parse(element.rule, SplitRule.class);
            checkDisk(here, plan, rule.rows());
            export = new MatrixExport(plan, rule, here.cache(), rowsExported);
        }
        export.add(element.split);
        if (element.isLast()) {
            finished = export.finish();
            out.collect(finished.directory().toString());
        }
    }

    /** Refuses before the first row what would fill the disk at the last. */
    private static void checkDisk(JobMachine machine, TrainPlan plan, long rows) throws IOException {
        int width = FittedPreprocessing.parse(plan.fitted().getBytes(StandardCharsets.UTF_8))
                .width();
        long needed = Footprint.diskBytes(rows, width);
        long usable = Files.getFileStore(machine.config().matrixDirectory()).getUsableSpace();
        if (needed > usable) {
            throw new RunRefusedException("matrix must fit the disk: neededBytes=" + needed
                    + ", usableBytes=" + usable + ", rows=" + rows + ", features=" + width + ", directory="
                    + machine.config().matrixDirectory());
        }
    }

    @Override
    public void close() throws Exception {
        try {
            if (export != null) {
                export.close();
            }
        } finally {
            if (finished != null) {
                finished.close();
            }
        }
    }
}
