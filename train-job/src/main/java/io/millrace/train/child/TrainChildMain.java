package io.millrace.train.child;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.store.ModelStore;
import io.millrace.store.StoreConfig;
import io.millrace.train.algorithm.Objective;
import io.millrace.train.spec.Comparison;
import io.millrace.train.spec.DeployedModel;
import io.millrace.train.spec.FetchSpec;
import io.millrace.train.spec.Progress;
import io.millrace.train.spec.Progress.Phase;
import io.millrace.train.spec.RunRefusedException;
import io.millrace.train.spec.SpecJson;
import io.millrace.train.spec.TrainResult;
import io.millrace.train.spec.TrainSpec;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Entry of the child JVM: {@value #TRAIN} and the file of a {@link TrainSpec}, or {@value #FETCH} and that of a {@link
 * FetchSpec}. Prints {@link Progress} lines, leaves {@link TrainSpec#RESULT_FILE} in the work directory and exits with 0;
 * or prints why not and exits with 1.
 *
 * <p>Its standard input is a pipe nobody writes to: it ends when the process that started this one ends, however it ends,
 * and then this one ends too.
 */
public final class TrainChildMain {
    /** Trains a model. */
    public static final String TRAIN = "--spec";
    /** Brings a package from the model store to local disk. */
    public static final String FETCH = "--fetch";

    private static final int EXIT_FAILED = 1;
    private static final int EXIT_ORPHANED = 3;

    private final TrainSpec spec;
    private final MemoryPeak memory;
    private final PrintStream out;

    private TrainChildMain(TrainSpec spec, MemoryPeak memory, PrintStream out) {
        this.spec = spec;
        this.memory = memory;
        this.out = out;
    }

    public static void main(String[] args) throws IOException {
        if (args.length != 2 || !List.of(TRAIN, FETCH).contains(args[0])) {
            throw new IllegalArgumentException("arguments must be --spec FILE or --fetch FILE: count=" + args.length);
        }
        endWithParent();
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        int exit;
        try (MemoryPeak memory = new MemoryPeak()) {
            Path file = Path.of(args[1]);
            exit = run(
                    args[0].equals(FETCH)
                            ? () -> fetch(SpecJson.read(file, FetchSpec.class))
                            : () -> new TrainChildMain(SpecJson.read(file, TrainSpec.class), memory, out).train(),
                    memory,
                    out);
        }
        // Native libraries leave threads behind that would keep the process alive.
        Runtime.getRuntime().halt(exit);
    }

    private interface Work {
        void run() throws IOException;
    }

    @SuppressWarnings("CatchThrowable")
    private static int run(Work work, MemoryPeak memory, PrintStream out) {
        try {
            work.run();
            return 0;
        } catch (Throwable thrown) {
            thrown.printStackTrace();
            String message =
                    Objects.toString(thrown.getMessage(), thrown.getClass().getName());
            // What XGBoost or a check refuses, it refuses again; a disk or a store may come back.
            boolean refused = thrown instanceof RunRefusedException || thrown instanceof XgboostException;
            out.println(Progress.failed(RunRefusedException.reason(message), refused, memory.peakBytes())
                    .line());
            return EXIT_FAILED;
        }
    }

    private static void endWithParent() {
        Thread watch = new Thread(
                () -> {
                    try {
                        while (System.in.read() >= 0) {
                            // Nothing is said this way; only the end counts.
                        }
                    } catch (IOException e) {
                        // A broken pipe is an end as well.
                    }
                    Runtime.getRuntime().halt(EXIT_ORPHANED);
                },
                "parent-watch");
        watch.setDaemon(true);
        watch.start();
    }

    private void train() throws IOException {
        Objective objective = Objective.of(spec.objective());
        FittedPreprocessing fitted = FittedPreprocessing.parse(Files.readAllBytes(Path.of(spec.fittedFile())));
        Path packageDirectory =
                Files.createDirectories(Path.of(spec.workDirectory()).resolve("package"));
        BoostedTraining training =
                new BoostedTraining(spec, objective, fitted.target().classCount(), memory, this::print);
        print(Progress.phase(Phase.LOADING, training.rounds(), memory.peakBytes()));
        long started = System.nanoTime();
        int rounds = training.train(packageDirectory.resolve(ModelPackage.MODEL_FILE));
        double seconds = (System.nanoTime() - started) / 1e9;

        print(Progress.phase(Phase.EVALUATING, training.rounds(), memory.peakBytes()));
        ModelPackage model = new ModelPackage(packageDirectory, spec, fitted);
        Map<String, Double> metrics = model.evaluate();

        try (ModelStore store = store(spec.confDirectory())) {
            Comparison comparison = compare(store, fitted);
            print(Progress.phase(Phase.PUBLISHING, training.rounds(), memory.peakBytes()));
            String sha256 = model.finish(metrics);
            String uri = store.publish(spec.storeDirectory(), packageDirectory);
            new Leftovers(spec.leftovers()).delete(store);
            Map<String, Double> facts = new LinkedHashMap<>();
            facts.put("rounds", (double) rounds);
            facts.put("train-seconds", seconds);
            facts.put("peak-anonymous-bytes", (double) memory.peakBytes());
            TrainResult result = new TrainResult(
                    uri,
                    sha256,
                    model.bytes(),
                    ModelPackage.FORMAT,
                    fitted.fittedId(),
                    fitted.target().labels(),
                    metrics,
                    facts,
                    comparison);
            SpecJson.write(Path.of(spec.workDirectory()).resolve(TrainSpec.RESULT_FILE), result);
        }
        print(Progress.phase(Phase.DONE, training.rounds(), memory.peakBytes()));
    }

    private @Nullable Comparison compare(ModelStore store, FittedPreprocessing fitted) {
        DeployedModel deployed = spec.deployed();
        return deployed == null
                ? null
                : new DeployedEvaluation(deployed, fitted.target())
                        .run(store, Path.of(spec.packageCache()), spec.deployedTestShards());
    }

    private static void fetch(FetchSpec spec) {
        try (ModelStore store = store(spec.confDirectory())) {
            store.fetch(spec.uri(), spec.sha256(), Path.of(spec.cacheDirectory()));
        }
    }

    private static ModelStore store(String confDirectory) {
        return new ModelStore(
                StoreConfig.from(ConfigFile.read(Path.of(confDirectory).resolve("store.properties"))));
    }

    private void print(Progress line) {
        out.println(line.line());
    }
}
