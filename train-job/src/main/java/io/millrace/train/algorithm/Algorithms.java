package io.millrace.train.algorithm;

import static io.millrace.train.algorithm.HyperParameter.choice;
import static io.millrace.train.algorithm.HyperParameter.integer;
import static io.millrace.train.algorithm.HyperParameter.real;
import static io.millrace.train.algorithm.HyperParameter.realAbove;

import io.millrace.contract.Task;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Every algorithm that trains, by name. */
public final class Algorithms {
    /** Rounds of boosting when a run does not say. */
    public static final long DEFAULT_ROUNDS = 100;
    /** Name of the number of boosting rounds; not a parameter of the library but of its training loop. */
    public static final String ROUNDS = "n_estimators";
    /** Name of the number of rounds without improvement after which training stops; 0 = never. */
    public static final String EARLY_STOPPING_ROUNDS = "early_stopping_rounds";

    private static final Algorithm XGBOOST = new Algorithm(
            "xgboost",
            List.of(
                    "xgb",
                    "gradient_boosting",
                    "gradient_boosted_trees",
                    "gbdt",
                    "gbt",
                    "boosted_trees",
                    "xgb_binary",
                    "xgb_multiclass",
                    "xgb_regression"),
            List.of(Task.CLASSIFICATION, Task.REGRESSION),
            List.of(
                    integer(ROUNDS, 1, 100_000, "num_boost_round", "num_round", "nrounds", "num_trees"),
                    integer(EARLY_STOPPING_ROUNDS, 0, 100_000),
                    realAbove("eta", 0, 1, "learning_rate"),
                    integer("max_depth", 1, 32),
                    integer("max_leaves", 0, 1_048_576),
                    choice("grow_policy", List.of("depthwise", "lossguide")),
                    integer("max_bin", 2, 65_536, "max_bins"),
                    real("gamma", 0, 1e9, "min_split_loss"),
                    real("min_child_weight", 0, 1e9),
                    real("max_delta_step", 0, 1e9),
                    realAbove("subsample", 0, 1),
                    realAbove("colsample_bytree", 0, 1),
                    realAbove("colsample_bylevel", 0, 1),
                    realAbove("colsample_bynode", 0, 1),
                    real("lambda", 0, 1e9, "reg_lambda"),
                    real("alpha", 0, 1e9, "reg_alpha"),
                    realAbove("scale_pos_weight", 0, 1e9),
                    integer("num_parallel_tree", 1, 1_000),
                    realAbove("huber_slope", 0, 1e9),
                    integer("nthread", 1, 1_024, "n_jobs"),
                    integer("seed", 0, Integer.MAX_VALUE, "random_state")));

    private static final List<Algorithm> ALL = List.of(XGBOOST);

    private Algorithms() {}

    /** All of them. */
    public static List<Algorithm> all() {
        return ALL;
    }

    /**
     * The algorithm of this name or alias, in any case.
     *
     * @throws HyperParameterException naming the nearest one
     */
    public static Algorithm of(String asked) {
        String lower = asked.toLowerCase(Locale.ROOT);
        return ALL.stream()
                .filter(algorithm ->
                        algorithm.name().equals(lower) || algorithm.aliases().contains(lower))
                .findFirst()
                .orElseThrow(() -> new HyperParameterException("algorithm must be a known one: algorithm=" + asked
                        + Algorithm.nearest(
                                asked,
                                ALL.stream()
                                        .flatMap(algorithm -> Stream.concat(
                                                Stream.of(algorithm.name()), algorithm.aliases().stream())))));
    }
}
