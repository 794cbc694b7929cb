package io.millrace.engine;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;

/** From the sum of a row's leaves (the margin) to the answer, as XGBoost's objectives define it. */
enum Link {
    /** The margin is the answer. */
    IDENTITY,
    /** One margin, a probability. */
    SIGMOID,
    /** One margin, a positive value. */
    EXP,
    /** One margin, 1 if positive, else 0. */
    STEP,
    /** A margin for each class, a probability for each class. */
    SOFTMAX;

    /** XGBoost clamps the exponent here so that its float32 exponential cannot overflow. */
    private static final float EXPONENT_MAX = 88.7f;

    /**
     * The link of an objective.
     *
     * @throws ContractException {@link ErrorCode#UNSUPPORTED_KIND} for an objective whose answers are not known to be
     *     equal to XGBoost's
     */
    static Link ofObjective(String objective) {
        return switch (objective) {
            case "binary:logistic", "reg:logistic", "binary:logitraw" -> SIGMOID;
            case "multi:softprob", "multi:softmax" -> SOFTMAX;
            case "binary:hinge" -> STEP;
            case "count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft" -> EXP;
            case "reg:squarederror",
                    "reg:squaredlogerror",
                    "reg:pseudohubererror",
                    "reg:absoluteerror",
                    "reg:quantileerror",
                    "rank:pairwise",
                    "rank:ndcg",
                    "rank:map" -> IDENTITY;
            default ->
                throw new ContractException(
                        ErrorCode.UNSUPPORTED_KIND, "objective must be one that is served: objective=" + objective);
        };
    }

    /** A natural logarithm in float32. */
    @FunctionalInterface
    interface Logarithm {
        float of(float value);
    }

    /**
     * The margin at which every row starts.
     *
     * @param objective as written in the model
     * @param baseScore as written in the model: on the answer's scale for single outputs, a margin for classes
     * @param logarithm XGBoost's own: the C library's differs from Java's in the last bit now and then
     */
    static float baseMargin(String objective, float baseScore, Logarithm logarithm) {
        return switch (objective) {
            case "binary:logistic", "reg:logistic" -> -logarithm.of(1.0f / baseScore - 1.0f);
            case "count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft" -> logarithm.of(baseScore);
            default -> baseScore;
        };
    }

    /** Whether the answers are probabilities of classes. */
    boolean isProbability() {
        return this == SIGMOID || this == SOFTMAX || this == STEP;
    }

    /**
     * Turns margins into answers, in place.
     *
     * <p>Shape: {@code rowCount x outputs}, row-major.
     */
    void apply(float[] values, int rowCount, int outputs) {
        int count = rowCount * outputs;
        switch (this) {
            case IDENTITY -> {}
            case SIGMOID -> {
                for (int index = 0; index < count; index++) {
                    values[index] = sigmoid(values[index]);
                }
            }
            case EXP -> {
                for (int index = 0; index < count; index++) {
                    values[index] = (float) Math.exp(values[index]);
                }
            }
            case STEP -> {
                for (int index = 0; index < count; index++) {
                    values[index] = values[index] > 0 ? 1 : 0;
                }
            }
            case SOFTMAX -> {
                for (int row = 0; row < rowCount; row++) {
                    softmax(values, row * outputs, outputs);
                }
            }
        }
    }

    private static float sigmoid(float margin) {
        return (float) (1.0 / (1.0 + Math.exp(Math.min(-margin, EXPONENT_MAX))));
    }

    private static void softmax(float[] values, int offset, int count) {
        float highest = values[offset];
        for (int index = 1; index < count; index++) {
            highest = Math.max(highest, values[offset + index]);
        }
        double sum = 0;
        for (int index = 0; index < count; index++) {
            float power = (float) Math.exp(values[offset + index] - highest);
            values[offset + index] = power;
            sum += power;
        }
        for (int index = 0; index < count; index++) {
            values[offset + index] /= (float) sum;
        }
    }
}
