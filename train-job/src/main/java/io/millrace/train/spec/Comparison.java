package io.millrace.train.spec;

import io.millrace.contract.Task;

/**
 * What a run found out about the deployed model on the run's own test rows.
 *
 * @param modelId the deployed model
 * @param outcome how far it got
 * @param score its {@link #scoreName} on the test rows; NaN unless {@link Outcome#SCORED}
 * @param reason why it has no score; empty if it has one
 */
public record Comparison(long modelId, Outcome outcome, double score, String reason) {
    /** How far the deployed model got. */
    public enum Outcome {
        /** It answered every test row. */
        SCORED,
        /** It cannot answer such rows, here or when it serves: a column is gone or has another type. */
        UNFIT,
        /** Whether it is better is not known: its package cannot be read, or it predicts something else. */
        UNKNOWN
    }

    /** It answered every test row. */
    public static Comparison scored(DeployedModel deployed, double score) {
        return new Comparison(deployed.modelId(), Outcome.SCORED, score, "");
    }

    /** It cannot answer such rows. */
    public static Comparison unfit(DeployedModel deployed, String reason) {
        return new Comparison(deployed.modelId(), Outcome.UNFIT, Double.NaN, reason);
    }

    /** Whether it is better is not known. */
    public static Comparison unknown(DeployedModel deployed, String reason) {
        return new Comparison(deployed.modelId(), Outcome.UNKNOWN, Double.NaN, reason);
    }

    /** The metric models of a task are compared by; larger is better. */
    public static String scoreName(Task task) {
        return task == Task.CLASSIFICATION ? "f1" : "r2";
    }
}
