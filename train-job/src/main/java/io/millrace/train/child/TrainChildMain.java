package io.millrace.train.child;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.store.ModelStore;
import io.millrace.store.StoreConfig;
import io.millrace.train.algorithm.Objective;
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
import java.util.Map;
import java.util.Objects;

/**
 * Entry of the child JVM: {@code --spec FILE}, a {@link TrainSpec}. Prints {@link Progress} lines, leaves {@link
 * TrainSpec#RESULT_FILE} in the work directory and exits with 0; or prints why not and exits with 1.
 *
 * <p>Its standard input is a pipe nobody writes to: it ends when the process that started this one ends, however it ends,
 * and then this one ends too.
 */
public final class TrainChildMain {
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
        if (args.length != 2 || !args[0].equals("--spec")) {
            throw new IllegalArgumentException("arguments must be --spec FILE: count=" + args.length);
        }
        endWithParent();
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        int exit;
        try (MemoryPeak memory = new MemoryPeak()) {
            exit = run(SpecJson.read(Path.of(args[1]), TrainSpec.class), memory, out);
        }
        // Native libraries leave threads behind that would keep the process alive.
        Runtime.getRuntime().halt(exit);
    }

    @SuppressWarnings("CatchThrowable")
    private static int run(TrainSpec spec, MemoryPeak memory, PrintStream out) {
        try {
            new TrainChildMain(spec, memory, out).train();
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

        print(Progress.phase(Phase.PUBLISHING, training.rounds(), memory.peakBytes()));
        String sha256 = model.finish(metrics);
        String uri = publish(packageDirectory);
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
                facts);
        SpecJson.write(Path.of(spec.workDirectory()).resolve(TrainSpec.RESULT_FILE), result);
        print(Progress.phase(Phase.DONE, training.rounds(), memory.peakBytes()));
    }

    private String publish(Path packageDirectory) throws IOException {
        ConfigFile file = ConfigFile.read(Path.of(spec.confDirectory()).resolve("store.properties"));
        try (ModelStore store = new ModelStore(StoreConfig.from(file))) {
            return store.publish(spec.storeDirectory(), packageDirectory);
        }
    }

    private void print(Progress line) {
        out.println(line.line());
    }
}
