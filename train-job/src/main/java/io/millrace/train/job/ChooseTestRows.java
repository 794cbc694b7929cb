package io.millrace.train.job;

import io.millrace.contract.Column;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.fitted.TargetMapping;
import io.millrace.lake.LakeRow;
import io.millrace.lake.PostgresTypes;
import io.millrace.lake.SnapshotScan;
import io.millrace.train.matrix.KeyRank;
import io.millrace.train.matrix.MatrixCache;
import io.millrace.train.matrix.MatrixKey;
import io.millrace.train.matrix.Sampling;
import io.millrace.train.matrix.SplitChooser;
import io.millrace.train.spec.SpecJson;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.iceberg.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Reads keys and labels of the whole snapshot and decides which rows are held out. The splits go on once that is known,
 * each with the rule. When all matrices are cached nothing is read and only the last split goes on, without a rule.
 */
final class ChooseTestRows extends ProcessFunction<SplitElement, SplitElement> {
    private static final long serialVersionUID = 1L;

    private final String planJson;
    private transient @Nullable State state;

    ChooseTestRows(TrainPlan plan) {
        this.planJson = plan.toJson();
    }

    @Override
    public void open(OpenContext context) throws Exception {
        TrainPlan plan = TrainPlan.parse(planJson);
        JobMachine machine = JobMachine.of(plan);
        MatrixKey deployedKey = plan.deployedKey();
        boolean cached = machine.isCached(plan.matrixKey()) && (deployedKey == null || machine.isCached(deployedKey));
        state = cached ? null : new State(plan, machine);
    }

    @Override
    public void processElement(SplitElement element, Context context, Collector<SplitElement> out) throws Exception {
        if (state == null) {
            if (element.isLast()) {
                out.collect(element);
            }
            return;
        }
        state.add(element);
        if (element.isLast()) {
            String rule = SpecJson.line(state.chooser.rule());
            for (SplitElement held : state.splits) {
                held.rule = rule;
                out.collect(held);
            }
        }
    }

    @Override
    public void close() throws Exception {
        if (state != null) {
            state.close();
        }
    }

    /** What is open while the rows are counted. */
    private static final class State {
        private final TrainPlan plan;
        private final TargetMapping target;
        private final OpenParts open = new OpenParts();
        private final SnapshotRows rows;
        private final SplitChooser chooser;
        private final List<String> columns = new ArrayList<>();
        private final List<Column> keys = new ArrayList<>();
        private final List<SplitElement> splits = new ArrayList<>();

        private State(TrainPlan plan, JobMachine machine) throws IOException {
            this.plan = plan;
            this.target = FittedPreprocessing.parse(plan.fitted().getBytes(StandardCharsets.UTF_8))
                    .target();
            try {
                this.rows = open.add(new SnapshotRows(plan));
                readColumns();
                MatrixCache.Scratch scratch = open.add(machine.cache().scratch(plan.scratchName() + "-ranks"));
                this.chooser = open.add(new SplitChooser(plan.split(), target.classCount(), scratch.directory()));
            } catch (IOException | RuntimeException e) {
                open.closeAfter(e);
                throw e;
            }
        }

        private void readColumns() {
            Schema schema = SnapshotScan.schema(rows.table(), plan.icebergSnapshotId());
            for (String key : plan.keyColumns()) {
                keys.add(new Column(key, PostgresTypes.columnType(schema.findField(key)), false));
            }
            columns.add(target.column());
            if (plan.split().sampling() == Sampling.LAST) {
                KeyRank.checkOrdered(keys);
                columns.add(keys.get(0).name());
            }
        }

        private void add(SplitElement element) throws IOException, InterruptedException {
            splits.add(element);
            rows.forEach(element.split, columns, this::add);
        }

        private void add(LakeRow row) throws IOException {
            float label = target.encode(row, 0);
            if (!Float.isNaN(label)) {
                chooser.add(RowPart.stratum(chooser.strata(), label), rank(row));
            }
        }

        private long rank(LakeRow row) {
            return RowPart.rank(plan.split(), keys, row, 1);
        }

        private void close() throws IOException {
            open.close();
        }
    }
}
