package io.millrace.train.job;

import io.millrace.contract.Column;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.fitted.BoundTransform;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.fitted.TargetMapping;
import io.millrace.lake.LakeRow;
import io.millrace.lake.SnapshotScan;
import io.millrace.train.job.DeployedPackage.UnknownModelException;
import io.millrace.train.matrix.MatrixCache;
import io.millrace.train.matrix.MatrixKey;
import io.millrace.train.matrix.Part;
import io.millrace.train.matrix.SplitRule;
import io.millrace.train.spec.Comparison;
import io.millrace.train.spec.DeployedModel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.jspecify.annotations.Nullable;

/*
 * Two matrices may come out of one pass: the one to train on, and the test rows as the deployed model sees them, which has
 * a preprocessing of its own. Each is left out when it is in the cache. The second one never fails a run: why it cannot be
 * made is what is then known of the deployed model.
 */

/** The export of a run's matrices: rows in, shards out. One thread. */
final class MatrixExport implements AutoCloseable {
    private final TrainPlan plan;
    private final SplitRule rule;
    private final JobMachine machine;
    private final LongCounter rowsExported;
    private final OpenParts open = new OpenParts();
    private final SnapshotRows rows;
    private final SourceColumns columns;
    private final List<Column> keys = new ArrayList<>();
    private final TargetMapping target;
    private final int targetColumn;
    private final int keyColumn;
    private final @Nullable ShardExport main;
    private @Nullable ShardExport deployed;
    private @Nullable Comparison settled;
    private long unlabelled;

    MatrixExport(TrainPlan plan, SplitRule rule, JobMachine machine, LongCounter rowsExported)
            throws IOException, InterruptedException {
        this.plan = plan;
        this.rule = rule;
        this.machine = machine;
        this.rowsExported = rowsExported;
        FittedPreprocessing fitted = FittedPreprocessing.parse(plan.fitted().getBytes(StandardCharsets.UTF_8));
        this.target = fitted.target();
        try {
            FittedPreprocessing deployedFitted = deployedFitted();
            this.rows = open.add(new SnapshotRows(plan));
            this.columns = new SourceColumns(SnapshotScan.schema(rows.table(), plan.icebergSnapshotId()));
            fitted.inputs().columns().forEach(input -> columns.add(input.name()));
            this.targetColumn = columns.add(target.column());
            this.keyColumn = columns.add(plan.keyColumns().get(0));
            plan.keyColumns().forEach(key -> keys.add(columns.column(key)));
            BoundTransform transform = fitted.bind(columns.columns());
            BoundTransform deployedTransform = deployedFitted == null ? null : deployedTransform(deployedFitted);
            boolean cached = machine.isCached(plan.matrixKey());
            checkDisk(cached ? 0 : transform.width(), deployedTransform == null ? 0 : deployedTransform.width());
            this.main = cached ? null : shards(plan.matrixKey(), fitted, transform, "-export");
            if (deployedFitted != null && deployedTransform != null) {
                MatrixKey key = Objects.requireNonNull(plan.deployedKey());
                this.deployed = shards(key, deployedFitted, deployedTransform, "-deployed");
            }
        } catch (IOException | InterruptedException | RuntimeException e) {
            open.closeAfter(e);
            throw e;
        }
    }

    /** Null when the deployed model needs no test rows of its own, or can have none. */
    private @Nullable FittedPreprocessing deployedFitted() throws IOException, InterruptedException {
        DeployedModel model = plan.deployed();
        MatrixKey key = plan.deployedKey();
        if (model == null || key == null || machine.isCached(key)) {
            return null;
        }
        try {
            FittedPreprocessing fitted = DeployedPackage.fitted(machine, plan, model);
            DeployedPackage.checkTarget(fitted.target(), target);
            return fitted;
        } catch (UnknownModelException e) {
            settled = Comparison.unknown(model, e.reason());
            return null;
        }
    }

    private @Nullable BoundTransform deployedTransform(FittedPreprocessing fitted) {
        fitted.inputs().columns().forEach(input -> columns.addIfPresent(input.name()));
        try {
            return fitted.bind(columns.columns());
        } catch (ContractException e) {
            settleUnfit(e);
            return null;
        }
    }

    private ShardExport shards(MatrixKey key, FittedPreprocessing fitted, BoundTransform transform, String suffix)
            throws IOException {
        return open.add(new ShardExport(key, fitted, transform, machine.cache(), plan.scratchName() + suffix));
    }

    private void checkDisk(int width, int deployedWidth) {
        long testRows = Math.round(rule.rows() * plan.split().testSize());
        long needed = (width == 0 ? 0 : Footprint.diskBytes(rule.rows(), width))
                + (deployedWidth == 0 ? 0 : Footprint.diskBytes(testRows, deployedWidth));
        new Preflight(machine.config()).checkDisk(needed, rule.rows(), width);
    }

    /** Writes the rows of one split. */
    void add(byte[] split) throws IOException, InterruptedException {
        if (main != null || deployed != null) {
            rows.forEach(split, columns.names(), this::add);
        }
    }

    private void add(LakeRow row) throws IOException {
        float label = target.encode(row, targetColumn);
        if (Float.isNaN(label)) {
            unlabelled++;
            return;
        }
        int stratum = RowPart.stratum(rule.strata().size(), label);
        Part part = rule.part(stratum, RowPart.rank(plan.split(), keys, row, keyColumn));
        if (main != null) {
            main.add(part, row, label);
        }
        if (part == Part.TEST) {
            addDeployed(row, label);
        }
        rowsExported.add(1);
    }

    private void addDeployed(LakeRow row, float label) throws IOException {
        if (deployed == null) {
            return;
        }
        try {
            deployed.add(Part.TEST, row, label);
        } catch (ContractException e) {
            settleUnfit(e);
            deployed = null;
        }
    }

    /** What the rows are to blame for is an answer; a disk that fails is a failure. */
    private void settleUnfit(ContractException refusal) {
        if (refusal.code().code() >= ErrorCode.INTERNAL_BASE) {
            throw refusal;
        }
        settled = Comparison.unfit(Objects.requireNonNull(plan.deployed()), String.valueOf(refusal.getMessage()));
    }

    /** Puts the matrices into the cache; the answer is the one to train on. */
    MatrixCache.CachedMatrix finish() throws IOException {
        if (deployed != null) {
            open.add(deployed.finish(target.classCount(), unlabelled));
        }
        return main == null ? machine.cachedMatrix(plan.matrixKey()) : main.finish(target.classCount(), unlabelled);
    }

    /** What is known of the deployed model; null when it has to be found out, or there is none. */
    @Nullable
    Comparison settled() {
        return settled;
    }

    @Override
    public void close() throws IOException {
        open.close();
    }
}
