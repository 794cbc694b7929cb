package io.millrace.train.job;

import io.millrace.train.matrix.MatrixCache.CachedMatrix;
import io.millrace.train.matrix.SplitRule;
import io.millrace.train.spec.Comparison;
import io.millrace.train.spec.SpecJson;
import java.util.Objects;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Transforms rows to feature vectors and writes them to matrix shards; when the last is written the matrix goes into the
 * cache, and an {@link ExportedMatrix} goes on.
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
            finish(here.cachedMatrix(plan.matrixKey()), null, out);
            return;
        }
        if (export == null) {
            SplitRule rule = SpecJson.parse(element.rule, SplitRule.class);
            export = new MatrixExport(plan, rule, here, rowsExported);
        }
        export.add(element.split);
        if (element.isLast()) {
            CachedMatrix matrix = export.finish();
            finish(matrix, export.settled(), out);
        }
    }

    private void finish(CachedMatrix matrix, @Nullable Comparison settled, Collector<String> out) {
        finished = matrix;
        out.collect(new ExportedMatrix(matrix.directory().toString(), settled).toJson());
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
