package io.millrace.lake.statistics;

/**
 * Count, mean, spread and range of finite numbers. Batches are summed in two passes and merged by the formula of Chan, Golub and
 * LeVeque, so a large mean does not eat the variance.
 *
 * @see <a href="https://doi.org/10.1080/00031305.1983.10483115">Chan, Golub, LeVeque: Algorithms for computing the sample variance</a>
 */
public final class Moments {
    private long count;
    private double mean;
    private double squaredDeviations;
    private double min = Double.POSITIVE_INFINITY;
    private double max = Double.NEGATIVE_INFINITY;

    /** Adds finite numbers. */
    public void add(double[] values, int length) {
        if (length == 0) {
            return;
        }
        double sum = 0;
        double low = min;
        double high = max;
        for (int i = 0; i < length; i++) {
            double value = values[i];
            sum += value;
            low = Math.min(low, value);
            high = Math.max(high, value);
        }
        double batchMean = sum / length;
        double squares = 0;
        double rest = 0;
        for (int i = 0; i < length; i++) {
            double deviation = values[i] - batchMean;
            squares += deviation * deviation;
            rest += deviation;
        }
        min = low;
        max = high;
        // The rest is what rounding the sum left in the mean.
        combine(length, batchMean + rest / length, squares - rest * rest / length);
    }

    /** Adds one finite number {@code times} times. */
    public void add(double value, long times) {
        if (times > 0) {
            min = Math.min(min, value);
            max = Math.max(max, value);
            combine(times, value, 0);
        }
    }

    /** Adds what another has seen. */
    public void merge(Moments other) {
        if (other.count > 0) {
            min = Math.min(min, other.min);
            max = Math.max(max, other.max);
            combine(other.count, other.mean, other.squaredDeviations);
        }
    }

    /** A copy that goes its own way. */
    public Moments copy() {
        Moments copy = new Moments();
        copy.merge(this);
        return copy;
    }

    public long count() {
        return count;
    }

    /** Mean; 0 of nothing. */
    public double mean() {
        return mean;
    }

    /** Variance of the population; 0 of nothing. */
    public double variance() {
        return count == 0 ? 0 : squaredDeviations / count;
    }

    /** Smallest; positive infinity of nothing. */
    public double min() {
        return min;
    }

    /** Largest; negative infinity of nothing. */
    public double max() {
        return max;
    }

    /**
     * Whether all numbers are the same but for rounding, so that dividing by their spread would only amplify noise. The bound is
     * scikit-learn's.
     */
    public boolean isConstant() {
        double epsilon = Math.ulp(1.0);
        double variance = variance();
        double product = count * mean * epsilon;
        return variance <= count * epsilon * variance + product * product;
    }

    private void combine(long otherCount, double otherMean, double otherSquares) {
        double difference = otherMean - mean;
        long total = count + otherCount;
        mean += difference * otherCount / total;
        squaredDeviations += otherSquares + difference * difference * ((double) count * otherCount / total);
        count = total;
    }
}
