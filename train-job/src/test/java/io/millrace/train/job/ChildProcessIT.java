package io.millrace.train.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.ModelManifest;
import io.millrace.contract.Task;
import io.millrace.train.TrainConfig;
import io.millrace.train.child.TrainChildMain;
import io.millrace.train.matrix.MatrixCache;
import io.millrace.train.matrix.Part;
import io.millrace.train.matrix.Sampling;
import io.millrace.train.matrix.SplitSpec;
import io.millrace.train.spec.Progress;
import io.millrace.train.spec.SpecJson;
import io.millrace.train.spec.TrainResult;
import io.millrace.train.spec.TrainSpec;
import io.millrace.train.testing.CsvTable;
import io.millrace.train.testing.TestingConf;
import io.millrace.train.testing.TestingMatrix;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A child JVM, from a matrix to a published model, on real tables. */
class ChildProcessIT {
    private static final Logger LOG = LoggerFactory.getLogger(ChildProcessIT.class);
    private static final SplitSpec QUARTER = new SplitSpec(0.25, Sampling.STRATIFIED, 42, 0);

    @TempDir
    private Path directory;

    private final List<Progress> lines = new ArrayList<>();

    /** A test split of a small table is a sample: what is claimed is the mean over splits that nobody chose. */
    @Test
    void reachesTheExpectedMeansOverFiveSplits() throws Exception {
        assertThat(mean(CsvTable.churn(), "churn", Task.CLASSIFICATION, "binary:logistic", "auc"))
                .isGreaterThanOrEqualTo(0.90);
        assertThat(mean(CsvTable.credit(), "Status", Task.CLASSIFICATION, "binary:logistic", "auc"))
                .isGreaterThanOrEqualTo(0.80);
        assertThat(mean(CsvTable.ames(), "Sale_Price", Task.REGRESSION, "reg:squarederror", "r2"))
                .isGreaterThanOrEqualTo(0.86);
    }

    private double mean(CsvTable table, String label, Task task, String objective, String metric) throws Exception {
        List<Double> values = new ArrayList<>();
        for (long seed = 1; seed <= 5; seed++) {
            SplitSpec split = new SplitSpec(0.25, Sampling.STRATIFIED, seed, 0);
            TrainResult result = train(matrix(table, label, task, split), objective, Map.of());
            values.add(result.metrics().getOrDefault(metric, Double.NaN));
        }
        DoubleSummaryStatistics summary =
                values.stream().mapToDouble(value -> value).summaryStatistics();
        LOG.info("accuracy: label={}, metric={}, mean={}, values={}", label, metric, summary.getAverage(), values);
        return summary.getAverage();
    }

    @Test
    void tellsEveryRoundAndEveryMetricOfTwoClasses() throws Exception {
        TestingMatrix matrix = matrix(CsvTable.churn(), "churn", Task.CLASSIFICATION, QUARTER);
        TrainResult result = train(matrix, "binary:logistic", Map.of());
        assertThat(result.metrics()).containsKeys("auc", "accuracy", "f1", "precision", "recall", "mcc", "log_loss");
        assertThat(result.labels()).containsExactly("no", "yes");
        assertThat(lines.stream().filter(line -> line.metric() != null)).hasSize(100);
        assertThat(lines.get(lines.size() - 1).phase()).isEqualTo(Progress.Phase.DONE);
    }

    @Test
    void tellsEveryMetricOfARegression() throws Exception {
        TestingMatrix matrix = matrix(CsvTable.ames(), "Sale_Price", Task.REGRESSION, QUARTER);
        TrainResult result = train(matrix, "reg:squarederror", Map.of("n_estimators", 5L));
        assertThat(result.metrics()).containsKeys("r2", "mae", "rmse");
    }

    @Test
    void trainsMoreThanTwoClasses() throws Exception {
        TestingMatrix matrix = matrix(CsvTable.credit(), "Marital", Task.CLASSIFICATION, QUARTER);
        TrainResult result = train(matrix, "multi:softprob", Map.of("n_estimators", 20L));
        assertThat(result.labels()).hasSize(5);
        assertThat(result.metrics().get("accuracy")).isGreaterThan(0.8);
        assertThat(result.metrics()).containsKeys("f1", "mcc", "log_loss");
    }

    @Test
    void stopsEarlyAndKeepsTheBestRounds() throws Exception {
        SplitSpec split = new SplitSpec(0.25, Sampling.STRATIFIED, 42, 0.1);
        TestingMatrix matrix = matrix(CsvTable.churn(), "churn", Task.CLASSIFICATION, split);
        TrainResult result =
                train(matrix, "binary:logistic", Map.of("n_estimators", 1_000L, "early_stopping_rounds", 10L));
        double rounds = result.facts().getOrDefault("rounds", 0.0);
        long trained = lines.stream().filter(line -> line.metric() != null).count();
        assertThat(trained).isLessThan(1_000);
        assertThat(rounds).isEqualTo(trained - 10.0);
        assertThat(lines.stream().filter(line -> line.metric() != null))
                .allSatisfy(line -> assertThat(line.validationValue()).isFinite());
    }

    @Test
    void publishesAPackageWhoseManifestNamesEveryFile() throws Exception {
        TestingMatrix matrix = matrix(CsvTable.churn(), "churn", Task.CLASSIFICATION, QUARTER);
        TrainResult result = train(matrix, "binary:logistic", Map.of("n_estimators", 5L));
        Path published = directory.resolve("store").resolve(result.uri().substring("store:".length()));
        ModelManifest manifest = ModelManifest.parse(Files.readAllBytes(published.resolve(ModelManifest.FILE_NAME)));
        assertThat(manifest.files())
                .extracting(ModelManifest.FileEntry::name)
                .containsExactly("model.ubj", "fitted.json", "evaluation.csv");
        assertThat(manifest.fittedId()).isEqualTo(matrix.fitted().fittedId());
        List<String> evaluation = Files.readAllLines(published.resolve("evaluation.csv"));
        assertThat(evaluation.get(0)).isEqualTo("key,label,score");
        assertThat(evaluation).hasSize((int) matrix.rows(Part.TEST) + 1);
    }

    @Test
    void trainsTheSameModelTwice() throws Exception {
        TestingMatrix matrix = matrix(CsvTable.churn(), "churn", Task.CLASSIFICATION, QUARTER);
        Map<String, Object> sampled = Map.of("n_estimators", 10L, "subsample", 0.7);
        TrainResult first = train(matrix, "binary:logistic", sampled);
        TrainResult second = train(matrix, "binary:logistic", sampled);
        assertThat(second.metrics()).isEqualTo(first.metrics());
    }

    @Test
    void saysWhatTheLibraryRefuses() throws Exception {
        TestingMatrix matrix = matrix(CsvTable.ames(), "Longitude", Task.REGRESSION, QUARTER);
        try (ChildProcess child = start(matrix, "count:poisson", Map.of())) {
            follow(child);
            assertThat(child.exitCode()).isEqualTo(1);
        }
        Progress last = lines.get(lines.size() - 1);
        assertThat(last.refused()).as(last.toString()).isTrue();
        assertThat(last.message()).isEqualTo("label must be non-negative for Poisson/Tweedie regression.");
    }

    @Test
    void closingKillsTheChildInTheMiddleOfARound() throws Exception {
        TestingMatrix matrix = matrix(CsvTable.churn(), "churn", Task.CLASSIFICATION, QUARTER);
        ChildProcess child = start(matrix, "binary:logistic", Map.of("n_estimators", 100_000L));
        Progress line = child.next();
        while (line != null && line.metric() == null) {
            line = child.next();
        }
        assertThat(line).as(child.errorTail()).isNotNull();
        long pid = child.pid();
        child.close();
        assertThat(ProcessHandle.of(pid)).isEmpty();
    }

    @Test
    void endsWhenItsParentIsKilledAndIsSweptByTheNextOne() throws Exception {
        TestingMatrix matrix = matrix(CsvTable.churn(), "churn", Task.CLASSIFICATION, QUARTER);
        Path cache = directory.resolve("cache");
        Process parent = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        ChildParentMain.class.getName(),
                        cache.toString())
                .start();
        Path work = Path.of(parent.inputReader().readLine());
        List<String> command = command(matrix, "binary:logistic", Map.of("n_estimators", 100_000L), work);
        try (Writer words = parent.outputWriter()) {
            words.write(String.join("\n", command) + "\n\n");
        }
        ProcessHandle child = ProcessHandle.of(
                        Long.parseLong(parent.inputReader().readLine()))
                .orElseThrow();
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> !filesOf(work.resolve("bins")).isEmpty());
        parent.destroyForcibly().waitFor();
        assertThat(child.onExit().get(60, TimeUnit.SECONDS).isAlive()).isFalse();
        assertThat(filesOf(work.resolve("bins"))).isNotEmpty();
        MatrixCache.open(cache, Long.MAX_VALUE);
        assertThat(filesOf(cache)).extracting(Path::getFileName).containsExactly(Path.of("cache.lock"));
    }

    private static List<Path> filesOf(Path root) throws IOException {
        if (!Files.exists(root)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    private TestingMatrix matrix(CsvTable table, String label, Task task, SplitSpec split) throws IOException {
        return TestingMatrix.write(table, label, task, split, Files.createTempDirectory(directory, "matrix"));
    }

    private TrainResult train(TestingMatrix matrix, String objective, Map<String, Object> hyperparams)
            throws Exception {
        lines.clear();
        try (ChildProcess child = start(matrix, objective, hyperparams)) {
            follow(child);
            assertThat(child.exitCode()).as(child.errorTail()).isZero();
        }
        return SpecJson.read(work().resolve(TrainSpec.RESULT_FILE), TrainResult.class);
    }

    private void follow(ChildProcess child) throws InterruptedException {
        Progress line = child.next();
        while (line != null) {
            lines.add(line);
            line = child.next();
        }
    }

    private Path work() {
        return directory.resolve("work" + runs);
    }

    private int runs;

    private ChildProcess start(TestingMatrix matrix, String objective, Map<String, Object> hyperparams)
            throws IOException {
        runs++;
        List<String> command = command(matrix, objective, hyperparams, Files.createDirectories(work()));
        return ChildProcess.start(conf().trainConfig(), command, work());
    }

    private TestingConf conf() throws IOException {
        return TestingConf.write(directory.resolve("conf"), directory);
    }

    private List<String> command(TestingMatrix matrix, String objective, Map<String, Object> hyperparams, Path work)
            throws IOException {
        TestingConf conf = conf();
        TrainConfig config = conf.trainConfig();
        TrainSpec spec = new TrainSpec(
                "postgres",
                1,
                "real tables",
                runs,
                1,
                "xgboost",
                objective,
                hyperparams,
                42,
                matrix.fitted().fittedId(),
                matrix.fittedFile().toString(),
                matrix.shards(Part.TRAIN),
                matrix.shards(Part.VALIDATION),
                matrix.shards(Part.TEST),
                work.toString(),
                "postgres/1/" + runs + "-1",
                conf.directory().toString(),
                config.childThreads(),
                null,
                List.of(),
                directory.resolve("packages").toString(),
                List.of());
        Path file = work.resolve("spec.json");
        SpecJson.write(file, spec);
        return ChildProcess.command(
                config, TrainChildMain.TRAIN, file, work, ChildProcess.heapBytes(matrix.rows(Part.TEST), null));
    }
}
