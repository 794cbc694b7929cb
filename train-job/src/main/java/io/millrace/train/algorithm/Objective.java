package io.millrace.train.algorithm;

import io.millrace.contract.Task;

/** What a boosting run minimises, and the metric it reports after each round. */
public enum Objective {
    // The first that fits a task is its default.
    BINARY_LOGISTIC("binary:logistic", "logloss"),
    MULTI_SOFTPROB("multi:softprob", "mlogloss"),
    SQUARED_ERROR("reg:squarederror", "rmse"),
    ABSOLUTE_ERROR("reg:absoluteerror", "mae"),
    PSEUDO_HUBER_ERROR("reg:pseudohubererror", "mphe"),
    POISSON("count:poisson", "poisson-nloglik"),
    GAMMA("reg:gamma", "gamma-nloglik"),
    TWEEDIE("reg:tweedie", "tweedie-nloglik@1.5");

    private final String label;
    private final String watchMetric;

    Objective(String label, String watchMetric) {
        this.label = label;
        this.watchMetric = watchMetric;
    }

    /** The library's own name of it. */
    public String label() {
        return label;
    }

    /** The metric reported after each round; smaller is better for every one of them. */
    public String watchMetric() {
        return watchMetric;
    }

    /** The objective of this name. */
    public static Objective of(String label) {
        for (Objective objective : values()) {
            if (objective.label.equals(label)) {
                return objective;
            }
        }
        throw new HyperParameterException("objective must be a known one: objective=" + label);
    }

    boolean fits(Task task, int classCount) {
        return switch (this) {
            case BINARY_LOGISTIC -> task == Task.CLASSIFICATION && classCount == 2;
            case MULTI_SOFTPROB -> task == Task.CLASSIFICATION && classCount != 2;
            default -> task == Task.REGRESSION;
        };
    }
}
