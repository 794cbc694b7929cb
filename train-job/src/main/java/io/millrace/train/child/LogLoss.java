package io.millrace.train.child;

/** The logarithm in log_loss. */
final class LogLoss {
    /** The step of float32 at 1: a float32 probability of 0 or 1 says no more than this. */
    private static final double SMALLEST = Math.ulp(1f);

    private LogLoss() {}

    /** Natural logarithm of a probability, clipped so that one confident mistake is not infinite. */
    static double logOfProbability(double probability) {
        return Math.log(Math.min(Math.max(probability, SMALLEST), 1 - SMALLEST));
    }
}
