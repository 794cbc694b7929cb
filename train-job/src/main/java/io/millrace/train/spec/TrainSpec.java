package io.millrace.train.spec;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Everything a child JVM needs to know to train one model. Holds no secret: the model store's configuration is read
 * from the configuration directory by the child itself.
 *
 * @param database name of the database the run is queued in
 * @param projectId project of the run
 * @param project its name
 * @param runId the run
 * @param attempt 1 for the first try
 * @param algorithm canonical name
 * @param objective the library's name of it
 * @param hyperparams checked, by canonical name
 * @param seed of sampling inside training
 * @param fittedId identity of the fitted preprocessing the matrix was made with
 * @param fittedFile path of its JSON
 * @param trainShards matrix directories of the rows trained on, in order
 * @param validationShards matrix directories of the rows that decide early stopping; may be empty
 * @param testShards matrix directories of the rows evaluated on
 * @param workDirectory directory of this attempt's scratch files; removed by whoever started the child
 * @param storeDirectory where in the model store the package goes
 * @param confDirectory directory of the properties files
 * @param threads threads of the library
 * @param deployed the model to score on the same test rows; null for none
 * @param deployedTestShards the test rows as that model sees them, with labels as the new model has them
 * @param packageCache local directory of packages taken from the model store
 * @param leftovers packages that no model will ever refer to, to be deleted
 */
public record TrainSpec(
        String database,
        long projectId,
        String project,
        long runId,
        int attempt,
        String algorithm,
        String objective,
        Map<String, Object> hyperparams,
        long seed,
        String fittedId,
        String fittedFile,
        List<String> trainShards,
        List<String> validationShards,
        List<String> testShards,
        String workDirectory,
        String storeDirectory,
        String confDirectory,
        int threads,
        @Nullable DeployedModel deployed,
        List<String> deployedTestShards,
        String packageCache,
        List<String> leftovers) {

    /** Name of the result file in the work directory. */
    public static final String RESULT_FILE = "result.json";
}
