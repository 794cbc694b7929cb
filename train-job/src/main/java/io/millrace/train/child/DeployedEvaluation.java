package io.millrace.train.child;

import io.millrace.contract.ContractException;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Task;
import io.millrace.contract.fitted.TargetMapping;
import io.millrace.engine.Engines;
import io.millrace.engine.Scorer;
import io.millrace.store.ModelStore;
import io.millrace.train.spec.Comparison;
import io.millrace.train.spec.DeployedModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/*
 * Only a comparison on the same rows says which of two models is better. The rows are the new run's test rows; the deployed
 * model sees them through its own preprocessing, which the export has applied, and its classes may be others: one that it
 * does not know is a mistake it makes.
 */

/** Scores the deployed model on the test rows of a run. */
final class DeployedEvaluation {
    private final DeployedModel deployed;
    private final TargetMapping target;

    /** @param target label of the run, by which the test rows are labelled */
    DeployedEvaluation(DeployedModel deployed, TargetMapping target) {
        this.deployed = deployed;
        this.target = target;
    }

    /**
     * Fetches the model and scores it. Whatever is wrong with it is an answer, not a failure of the run.
     *
     * @param packageCache local directory of packages
     * @param shards test rows as the deployed model sees them
     */
    Comparison run(ModelStore store, Path packageCache, List<String> shards) {
        try {
            Path directory = store.fetch(deployed.uri(), deployed.sha256(), packageCache);
            ModelManifest manifest =
                    ModelManifest.parse(Files.readAllBytes(directory.resolve(ModelManifest.FILE_NAME)));
            if (!manifest.fittedId().equals(deployed.fittedId())) {
                return Comparison.unknown(
                        deployed,
                        "package must have the preprocessing the database names: fittedId=" + manifest.fittedId()
                                + ", expected=" + deployed.fittedId());
            }
            try (Scorer scorer = Engines.load(directory, manifest);
                    ShardRows rows = ShardRows.open(shards)) {
                double score = score(scorer, rows, manifest.labels());
                return Double.isNaN(score)
                        ? Comparison.unknown(
                                deployed, Comparison.scoreName(target.task()) + " is not defined on the test rows")
                        : Comparison.scored(deployed, score);
            }
        } catch (ContractException | IOException e) {
            return Comparison.unknown(deployed, Objects.toString(e.getMessage(), e.toString()));
        }
    }

    private double score(Scorer scorer, ShardRows rows, List<String> deployedLabels) throws IOException {
        int outputs = scorer.outputs();
        if (target.task() == Task.REGRESSION) {
            RegressionMetrics regression = new RegressionMetrics();
            Evaluation.score(scorer, rows, (key, label, scores, offset) -> regression.add(label, scores[offset]));
            return regression.values().getOrDefault("r2", Double.NaN);
        }
        List<String> classes = new ArrayList<>(target.labels());
        int[] classOf = new int[deployedLabels.size()];
        for (int index = 0; index < classOf.length; index++) {
            if (!classes.contains(deployedLabels.get(index))) {
                classes.add(deployedLabels.get(index));
            }
            classOf[index] = classes.indexOf(deployedLabels.get(index));
        }
        ConfusionMatrix confusion = new ConfusionMatrix(classes.size());
        Evaluation.score(
                scorer,
                rows,
                (key, label, scores, offset) ->
                        confusion.add((int) label, classOf[Evaluation.predictedClass(scores, offset, outputs)]));
        return confusion.f1Macro();
    }
}
