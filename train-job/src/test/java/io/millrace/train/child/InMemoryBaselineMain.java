package io.millrace.train.child;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.matrix.MatrixLayout;
import io.millrace.engine.XgboostLibrary;
import io.millrace.train.spec.Progress;
import io.millrace.train.spec.SpecJson;
import io.millrace.train.spec.TrainResult;
import io.millrace.train.spec.TrainSpec;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the benchmark compares with: the same training, evaluation and progress lines, but with the matrix in memory, as
 * most programs use the library. Arguments: {@code dense|quantile --spec FILE}.
 */
public final class InMemoryBaselineMain {
    private InMemoryBaselineMain() {}

    /** The two ways to hold a matrix in memory. */
    interface InMemoryLibrary extends TrainingLibrary {
        int XGDMatrixCreateFromDense(String arrayInterface, String config, PointerByReference out);

        int XGQuantileDMatrixCreateFromCallback(
                @Nullable Pointer iterator,
                Pointer proxy,
                @Nullable Pointer reference,
                Reset reset,
                NextBlock next,
                String config,
                PointerByReference out);
    }

    public static void main(String[] args) throws Exception {
        TrainSpec spec = SpecJson.read(Path.of(args[2]), TrainSpec.class);
        FittedPreprocessing fitted = FittedPreprocessing.parse(Files.readAllBytes(Path.of(spec.fittedFile())));
        Path work = Path.of(spec.workDirectory());
        Path packageDirectory = Files.createDirectories(work.resolve("package"));
        try (MemoryPeak memory = new MemoryPeak()) {
            long started = System.nanoTime();
            train(args[0], spec, packageDirectory.resolve(ModelPackage.MODEL_FILE));
            double seconds = (System.nanoTime() - started) / 1e9;
            Map<String, Double> metrics = new ModelPackage(packageDirectory, spec, fitted).evaluate();
            TrainResult result = new TrainResult(
                    "",
                    "",
                    0,
                    ModelPackage.FORMAT,
                    fitted.fittedId(),
                    List.of(),
                    metrics,
                    Map.of("train-seconds", seconds, "peak-anonymous-bytes", (double) memory.peakBytes()),
                    null);
            SpecJson.write(work.resolve(TrainSpec.RESULT_FILE), result);
            System.out.println(
                    Progress.phase(Progress.Phase.DONE, 0, memory.peakBytes()).line());
        }
        Runtime.getRuntime().halt(0);
    }

    private static void train(String how, TrainSpec spec, Path model) throws IOException {
        InMemoryLibrary library = XgboostLibrary.open(InMemoryLibrary.class);
        try (ShardRows rows = ShardRows.open(spec.trainShards())) {
            Pointer matrix = how.equals("dense") ? dense(library, rows, spec) : quantile(library, rows, spec);
            PointerByReference out = new PointerByReference();
            TrainingLibrary.check(library, library.XGBoosterCreate(new Pointer[] {matrix}, 1, out));
            Pointer booster = out.getValue();
            Map.of(
                            "tree_method", "hist",
                            "objective", spec.objective(),
                            "eval_metric", "logloss",
                            "nthread", Integer.toString(spec.threads()),
                            "seed", Long.toString(spec.seed()))
                    .forEach((name, value) ->
                            TrainingLibrary.check(library, library.XGBoosterSetParam(booster, name, value)));
            long rounds = ((Number) spec.hyperparams().getOrDefault("n_estimators", 100)).longValue();
            for (int round = 0; round < rounds; round++) {
                TrainingLibrary.check(library, library.XGBoosterUpdateOneIter(booster, round, matrix));
            }
            TrainingLibrary.check(library, library.XGBoosterSaveModel(booster, model.toString()));
            TrainingLibrary.check(library, library.XGBoosterFree(booster));
            TrainingLibrary.check(library, library.XGDMatrixFree(matrix));
        }
    }

    private static Pointer dense(InMemoryLibrary library, ShardRows rows, TrainSpec spec) throws IOException {
        Path shard = Path.of(spec.trainShards().get(0));
        MappedByteBuffer features = mapped(shard.resolve(MatrixLayout.FEATURES));
        MappedByteBuffer labels = mapped(shard.resolve(MatrixLayout.LABELS));
        PointerByReference out = new PointerByReference();
        TrainingLibrary.check(
                library,
                library.XGDMatrixCreateFromDense(
                        TrainingLibrary.matrixInterface(address(features), rows.rowCount(), rows.width()),
                        "{\"missing\":NaN,\"nthread\":" + spec.threads() + "}",
                        out));
        TrainingLibrary.check(
                library,
                library.XGDMatrixSetInfoFromInterface(
                        out.getValue(), "label", TrainingLibrary.vectorInterface(address(labels), rows.rowCount())));
        return out.getValue();
    }

    private static MappedByteBuffer mapped(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
        }
    }

    private static long address(MappedByteBuffer buffer) {
        return Pointer.nativeValue(Native.getDirectBufferPointer(buffer));
    }

    private static Pointer quantile(InMemoryLibrary library, ShardRows rows, TrainSpec spec) {
        PointerByReference proxy = new PointerByReference();
        TrainingLibrary.check(library, library.XGProxyDMatrixCreate(proxy));
        TrainingLibrary.NextBlock next = iterator -> {
            ShardRows.Block block = rows.next();
            if (block == null) {
                return 0;
            }
            TrainingLibrary.check(
                    library,
                    library.XGProxyDMatrixSetDataDense(
                            proxy.getValue(),
                            TrainingLibrary.matrixInterface(block.featuresAddress(), block.rowCount(), rows.width())));
            TrainingLibrary.check(
                    library,
                    library.XGDMatrixSetInfoFromInterface(
                            proxy.getValue(),
                            "label",
                            TrainingLibrary.vectorInterface(block.labelsAddress(), block.rowCount())));
            return 1;
        };
        TrainingLibrary.Reset reset = iterator -> rows.rewind();
        PointerByReference out = new PointerByReference();
        TrainingLibrary.check(
                library,
                library.XGQuantileDMatrixCreateFromCallback(
                        null,
                        proxy.getValue(),
                        null,
                        reset,
                        next,
                        "{\"missing\":NaN,\"max_bin\":256,\"nthread\":" + spec.threads() + "}",
                        out));
        return out.getValue();
    }
}
