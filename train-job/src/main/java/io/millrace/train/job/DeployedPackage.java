package io.millrace.train.job;

import io.millrace.contract.ContractException;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.fitted.TargetMapping;
import io.millrace.train.child.TrainChildMain;
import io.millrace.train.matrix.MatrixCache.Scratch;
import io.millrace.train.spec.DeployedModel;
import io.millrace.train.spec.FetchSpec;
import io.millrace.train.spec.Progress;
import io.millrace.train.spec.SpecJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The package of the deployed model on this machine. A child JVM fetches it: the model store's native library stays out of
 * the TaskManager, which outlives many jobs.
 */
final class DeployedPackage {
    private static final long FETCH_HEAP_BYTES = 32L << 20;

    private DeployedPackage() {}

    /**
     * What the deployed model does with rows.
     *
     * @throws UnknownModelException if the package cannot be had, or is not what the database says
     * @throws InterruptedException if the task is cancelled meanwhile
     */
    static FittedPreprocessing fitted(JobMachine machine, TrainPlan plan, DeployedModel deployed)
            throws IOException, InterruptedException, UnknownModelException {
        FetchSpec spec = new FetchSpec(
                deployed.uri(), deployed.sha256(), machine.packageCache().toString(), plan.confDirectory());
        try (Scratch scratch = machine.cache().scratch(plan.scratchName() + "-fetch")) {
            Path file = scratch.directory().resolve("fetch.json");
            SpecJson.write(file, spec);
            List<String> command = ChildProcess.command(
                    machine.config(), TrainChildMain.FETCH, file, scratch.directory(), FETCH_HEAP_BYTES);
            try (ChildProcess child = ChildProcess.start(machine.config(), command, scratch.directory())) {
                awaitEnd(child);
            }
        }
        FittedPreprocessing fitted;
        try {
            fitted = FittedPreprocessing.parse(
                    Files.readAllBytes(spec.packageDirectory().resolve(ModelManifest.FITTED_FILE_NAME)));
        } catch (ContractException e) {
            throw new UnknownModelException(String.valueOf(e.getMessage()));
        }
        if (!fitted.fittedId().equals(deployed.fittedId())) {
            throw new UnknownModelException("package must have the preprocessing the database names: fittedId="
                    + fitted.fittedId() + ", expected=" + deployed.fittedId());
        }
        return fitted;
    }

    private static void awaitEnd(ChildProcess child) throws InterruptedException, UnknownModelException {
        @Nullable String reason = null;
        for (Progress line = child.next(); line != null; line = child.next()) {
            reason = line.message();
        }
        if (child.exitCode() != 0) {
            throw new UnknownModelException(
                    reason == null ? "package was not fetched: exitCode=" + child.exitCode() : reason);
        }
    }

    /**
     * Refuses to compare models that answer different questions.
     *
     * @throws UnknownModelException naming both labels
     */
    static void checkTarget(TargetMapping deployed, TargetMapping target) throws UnknownModelException {
        if (deployed.task() != target.task() || !deployed.column().equals(target.column())) {
            throw new UnknownModelException("deployed model must predict the label of the run: deployedLabel="
                    + deployed.column() + ", label=" + target.column() + ", deployedTask="
                    + deployed.task().text() + ", task=" + target.task().text());
        }
    }

    /** Whether the deployed model is better cannot be found out. */
    static final class UnknownModelException extends Exception {
        private static final long serialVersionUID = 1L;

        private final String reason;

        private UnknownModelException(String reason) {
            super(reason);
            this.reason = reason;
        }

        String reason() {
            return reason;
        }
    }
}
