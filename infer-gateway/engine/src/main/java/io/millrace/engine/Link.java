package io.millrace.engine;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.util.LinkedHashMap;
import java.util.Map;

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

    /** In the order of a message. */
    private static final Map<String, Link> BY_OBJECTIVE = byObjective();

    /** XGBoost clamps the exponent here so that its float32 exponential cannot overflow. */
    private static final float EXPONENT_MAX = 88.7f;

    /**
     * The link of an objective.
     *
     * @throws ContractException {@link ErrorCode#UNSUPPORTED_KIND} for an objective whose answers are not known to be
     *     equal to XGBoost's
     */
    static Link ofObjective(String objective) {
        Link link = BY_OBJECTIVE.get(objective);
        if (link == null) {
            throw new ContractException(
                    ErrorCode.UNSUPPORTED_KIND,
                    "objective must be one that is served: objective=" + objective + ", served="
                            + String.join(", ", BY_OBJECTIVE.keySet()));
        }
        return link;
    }

    private static Map<String, Link> byObjective() {
        Map<String, Link> links = new LinkedHashMap<>();
        links.put("binary:logistic", SIGMOID);
        links.put("binary:logitraw", SIGMOID);
        links.put("binary:hinge", STEP);
        links.put("multi:softprob", SOFTMAX);
        links.put("multi:softmax", SOFTMAX);
        links.put("reg:squarederror", IDENTITY);
        links.put("reg:squaredlogerror", IDENTITY);
        links.put("reg:pseudohubererror", IDENTITY);
        links.put("reg:absoluteerror", IDENTITY);
        links.put("reg:quantileerror", IDENTITY);
        links.put("reg:logistic", SIGMOID);
        links.put("reg:gamma", EXP);
        links.put("reg:tweedie", EXP);
        links.put("count:poisson", EXP);
        links.put("survival:cox", EXP);
        links.put("survival:aft", EXP);
        links.put("rank:pairwise", IDENTITY);
        links.put("rank:ndcg", IDENTITY);
        links.put("rank:map", IDENTITY);
        return links;
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
        if (this == IDENTITY) {
            return;
        }
        for (int row = 0; row < rowCount; row++) {
            applyRow(values, row * outputs, outputs);
        }
    }

    /** The same for the {@code count} values of one row. */
    void applyRow(float[] values, int offset, int count) {
        if (this == SOFTMAX) {
            softmax(values, offset, count);
            return;
        }
        for (int index = offset; index < offset + count; index++) {
            values[index] = applied(values[index]);
        }
    }

    private float applied(float margin) {
        return switch (this) {
            case IDENTITY -> margin;
            case SIGMOID -> sigmoid(margin);
            case EXP -> (float) Math.exp(margin);
            case STEP -> margin > 0 ? 1 : 0;
            case SOFTMAX -> throw new AssertionError(this);
        };
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
