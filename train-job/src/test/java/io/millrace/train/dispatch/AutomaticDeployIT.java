package io.millrace.train.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.train.dispatch.TestingPlatform.RunningDispatcher;
import io.millrace.train.matrix.Directories;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A model is deployed by itself only if it beats the deployed one on its own test rows. */
@SuppressWarnings("try") // a child is held by being there
class AutomaticDeployIT {
    private static final String GOOD = "{\"n_estimators\": 20}";
    private static final String WEAK = "{\"n_estimators\": 1, \"max_depth\": 1}";
    private static final String WEAK_ON_OTHER_ROWS = "{\"n_estimators\": 1, \"max_depth\": 1, \"seed\": 7}";

    @TempDir
    private static Path directory;

    private static TestingPlatform platform;
    private static RunningDispatcher dispatcher;
    private static long churn;

    @BeforeAll
    static void startPlatform() throws Exception {
        platform = TestingPlatform.start(directory);
        platform.createChurn();
        churn = platform.snapshot("churn", "churn");
        platform.deployWithoutGateway();
        dispatcher = platform.dispatch();
    }

    @AfterAll
    static void stopPlatform() {
        dispatcher.close();
        platform.close();
    }

    @Test
    void deploysOnlyWhatIsBetter() throws Exception {
        long weak = train("better", churn, WEAK);
        assertThat(platform.text("phase", weak)).isEqualTo("succeeded and deployed");
        assertThat(platform.text("jsonb_exists(metrics, 'deployed-model-id')", weak))
                .isEqualTo("false");

        long good = train("better", churn, GOOD);
        assertThat(platform.text("phase", good)).isEqualTo("succeeded and deployed");
        assertThat(platform.text("metrics->'deployed-model-id'", good)).isEqualTo(platform.text("model_id", weak));
        assertThat(platform.text("metrics->'deployed-f1'", good)).isEqualTo(platform.text("metrics->'f1'", weak));

        long again = train("better", churn, WEAK);
        assertThat(platform.text("phase", again))
                .isEqualTo("succeeded, not deployed: f1 " + platform.text("metrics->'f1'", weak) + " is not above the "
                        + platform.text("metrics->'f1'", good) + " of deployed model "
                        + platform.text("model_id", good) + " on the same test rows");
        assertThat(platform.text("metrics->'deployed'", again)).isEqualTo("false");
        assertThat(deployed("better")).isEqualTo(platform.text("model_id", good));
    }

    /** Numbers of two splits cannot be compared: the stored one may be low because its test rows were hard. */
    @Test
    void measuresTheDeployedModelOnTheSameTestRows() throws Exception {
        long good = train("same rows", churn, GOOD);
        String model = platform.text("model_id", good);
        platform.postgres().execute("UPDATE ml.models SET metrics = '{\"f1\": 0.01}' WHERE model_id = " + model);
        long weak = train("same rows", churn, WEAK_ON_OTHER_ROWS);
        assertThat(deployed("same rows")).isEqualTo(model);
        assertThat(score("deployed-f1", weak)).isGreaterThan(score("f1", weak)).isNotEqualTo(score("f1", good));
    }

    /** Other rows give another preprocessing, in which a code stands for another text. */
    @Test
    void givesTheDeployedModelItsOwnPreprocessing() throws Exception {
        platform.postgres()
                .execute(
                        "CREATE TABLE shifted AS TABLE churn",
                        "ALTER TABLE shifted ADD PRIMARY KEY (id)",
                        "INSERT INTO shifted SELECT (jsonb_populate_record(s, jsonb_build_object('id', id + 100000, 'state',"
                                + " 'AA', 'international_plan', 'a'))).* FROM shifted s WHERE id <= 100");
        long shifted = platform.snapshot("shifted", "churn");
        long good = train("preprocessing", churn, GOOD);
        long matrices = matrices();
        long weak = train("preprocessing", shifted, WEAK);
        assertThat(score("deployed-f1", weak)).isGreaterThan(score("f1", good) - 0.05);
        assertThat(deployed("preprocessing")).isEqualTo(platform.text("model_id", good));
        assertThat(matrices()).isEqualTo(matrices + 2);

        long next = train("preprocessing", shifted, WEAK);
        assertThat(platform.text("metrics->'deployed-f1'", next))
                .isEqualTo(platform.text("metrics->'deployed-f1'", weak));
        assertThat(matrices()).isEqualTo(matrices + 2);
    }

    @Test
    void replacesADeployedModelWhoseColumnIsGone() throws Exception {
        platform.postgres()
                .execute(
                        "CREATE TABLE narrow AS TABLE churn",
                        "ALTER TABLE narrow ADD PRIMARY KEY (id), DROP COLUMN total_day_charge");
        long narrow = platform.snapshot("narrow", "churn");
        train("narrowed", churn, GOOD);
        long weak = train("narrowed", narrow, WEAK);
        assertThat(platform.text("metrics->>'deployed-model-error'", weak))
                .isEqualTo("feature column is missing: column=total_day_charge, givenColumns=20");
        assertThat(platform.text("phase", weak)).isEqualTo("succeeded and deployed");
        assertThat(deployed("narrowed")).isEqualTo(platform.text("model_id", weak));
    }

    @Test
    void leavesADeployedModelThatPredictsSomethingElse() throws Exception {
        long plan = platform.snapshot("churn", "voice_mail_plan");
        long good = train("label", churn, WEAK);
        long other = train("label", plan, GOOD);
        String reason = "deployed model must predict the label of the run: deployedLabel=churn, label=voice_mail_plan,"
                + " deployedTask=classification, task=classification";
        assertThat(platform.text("metrics->>'deployed-model-error'", other)).isEqualTo(reason);
        assertThat(platform.text("phase", other))
                .isEqualTo("succeeded, not deployed: it cannot be compared with deployed model "
                        + platform.text("model_id", good) + ": " + reason);
        assertThat(deployed("label")).isEqualTo(platform.text("model_id", good));
    }

    @Test
    void leavesADeployedModelWhosePackageIsDamaged() throws Exception {
        long good = train("damaged", churn, WEAK);
        String uri = String.valueOf(platform.postgres().queryOne("SELECT uri FROM ml.models WHERE run_id = " + good));
        Path model = directory
                .resolve("store")
                .resolve(uri.substring("store:".length()))
                .resolve("model.ubj");
        Files.write(model, new byte[] {1, 2, 3});
        Directories.delete(directory.resolve("matrix/packages"));
        long better = train("damaged", churn, GOOD);
        assertThat(platform.text("metrics->>'deployed-model-error'", better)).contains("file=model.ubj");
        assertThat(platform.text("phase", better))
                .startsWith("succeeded, not deployed: it cannot be compared with deployed model "
                        + platform.text("model_id", good) + ": ");
        assertThat(deployed("damaged")).isEqualTo(platform.text("model_id", good));
    }

    /** What was compared with must still be what is deployed. */
    @Test
    void doesNotReplaceAModelThatWasDeployedMeanwhile() throws Exception {
        long first = train("meanwhile", churn, WEAK);
        // Not better, so not deployed yet.
        long manual = train("meanwhile", churn, WEAK);
        long better = platform.queue("meanwhile", churn, GOOD);
        try (HeldChild child = HeldChild.await()) {
            platform.postgres().execute("SELECT ml.deploy(" + platform.text("model_id", manual) + "::bigint)");
        }
        platform.await(better, "succeeded");
        assertThat(platform.text("phase", better))
                .isEqualTo("succeeded, not deployed: model " + platform.text("model_id", manual)
                        + " was deployed while this one was trained");
        assertThat(platform.text("metrics->'deployed-model-id'", better)).isEqualTo(platform.text("model_id", first));
        assertThat(deployed("meanwhile")).isEqualTo(platform.text("model_id", manual));
    }

    private static long train(String project, long snapshot, String hyperparams) {
        long run = platform.queue(project, snapshot, hyperparams);
        platform.await(run, "succeeded");
        return run;
    }

    private static String deployed(String project) {
        return String.valueOf(platform.postgres()
                .queryOne("SELECT ml._deployed_model(project_id) FROM ml.projects WHERE name = '" + project + "'"));
    }

    private static double score(String metric, long run) {
        return Double.parseDouble(platform.text("metrics->'" + metric + "'", run));
    }

    private static long matrices() throws Exception {
        try (var files = Files.list(directory.resolve("matrix/matrices"))) {
            return files.count();
        }
    }
}
