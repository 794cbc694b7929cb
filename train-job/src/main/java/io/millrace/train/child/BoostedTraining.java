package io.millrace.train.child;

import io.millrace.train.algorithm.Algorithms;
import io.millrace.train.algorithm.Objective;
import io.millrace.train.spec.Progress;
import io.millrace.train.spec.TrainSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Gradient boosting by XGBoost over matrix shards, out of core. */
final class BoostedTraining {
    private static final long DEFAULT_MAX_BIN = 256;
    private static final String BINS_DIRECTORY = "bins";

    private final TrainSpec spec;
    private final Objective objective;
    private final int classCount;
    private final MemoryPeak memory;
    private final Consumer<Progress> progress;

    BoostedTraining(
            TrainSpec spec, Objective objective, int classCount, MemoryPeak memory, Consumer<Progress> progress) {
        this.spec = spec;
        this.objective = objective;
        this.classCount = classCount;
        this.memory = memory;
        this.progress = progress;
    }

    /**
     * Trains and writes the model.
     *
     * @param model file to write
     * @return rounds the model holds; fewer than asked for after early stopping
     */
    int train(Path model) throws IOException {
        TrainingLibrary library = TrainingLibrary.open();
        Path bins = Files.createDirectories(Path.of(spec.workDirectory()).resolve(BINS_DIRECTORY));
        List<NativeMatrix> matrices = new ArrayList<>();
        try (ShardRows trainRows = ShardRows.open(spec.trainShards());
                ShardRows validationRows = ShardRows.open(spec.validationShards())) {
            matrices.add(NativeMatrix.create(library, trainRows, null, bins, "train", maxBin(), spec.threads()));
            if (validationRows.rowCount() > 0) {
                matrices.add(NativeMatrix.create(
                        library, validationRows, matrices.get(0), bins, "validation", maxBin(), spec.threads()));
            }
            try (NativeBooster booster = NativeBooster.create(library, matrices, parameters())) {
                int rounds = boost(booster, matrices);
                save(booster, rounds, model);
                return rounds;
            }
        } finally {
            matrices.forEach(NativeMatrix::close);
        }
    }

    /** Runs the rounds; returns how many of them to keep. */
    private int boost(NativeBooster booster, List<NativeMatrix> matrices) {
        int rounds = rounds();
        long patience = number(Algorithms.EARLY_STOPPING_ROUNDS, 0);
        boolean stopsEarly = matrices.size() > 1 && patience > 0;
        int bestRound = stopsEarly ? 1 : rounds;
        double best = Double.POSITIVE_INFINITY;
        for (int round = 0; round < rounds; round++) {
            booster.update(round, matrices.get(0));
            double[] values = booster.evaluate(round, matrices);
            double validation = values.length > 1 ? values[1] : Double.NaN;
            progress.accept(Progress.round(
                    round + 1, rounds, objective.watchMetric(), values[0], validation, memory.peakBytes()));
            if (stopsEarly) {
                if (validation < best) {
                    best = validation;
                    bestRound = round + 1;
                } else if (round + 1 - bestRound >= patience) {
                    return bestRound;
                }
            }
        }
        return bestRound;
    }

    private void save(NativeBooster booster, int rounds, Path model) {
        if (rounds == rounds()) {
            booster.save(model);
            return;
        }
        try (NativeBooster kept = booster.firstRounds(rounds)) {
            kept.save(model);
        }
    }

    private Map<String, String> parameters() {
        Map<String, String> parameters = new LinkedHashMap<>();
        parameters.put("tree_method", "hist");
        parameters.put("objective", objective.label());
        parameters.put("eval_metric", objective.watchMetric());
        parameters.put("max_bin", Long.toString(maxBin()));
        parameters.put("nthread", Integer.toString(spec.threads()));
        parameters.put("seed", Long.toString(spec.seed()));
        if (objective == Objective.MULTI_SOFTPROB) {
            parameters.put("num_class", Integer.toString(classCount));
        }
        spec.hyperparams().forEach((name, value) -> {
            if (!name.equals(Algorithms.ROUNDS) && !name.equals(Algorithms.EARLY_STOPPING_ROUNDS)) {
                parameters.put(name, value.toString());
            }
        });
        return parameters;
    }

    int rounds() {
        return (int) number(Algorithms.ROUNDS, Algorithms.DEFAULT_ROUNDS);
    }

    private long maxBin() {
        return number("max_bin", DEFAULT_MAX_BIN);
    }

    private long number(String name, long byDefault) {
        return spec.hyperparams().get(name) instanceof Number number ? number.longValue() : byDefault;
    }
}
