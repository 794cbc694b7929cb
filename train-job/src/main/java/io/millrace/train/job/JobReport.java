package io.millrace.train.job;

/** Names under which the job reports, as accumulators and as metrics; the dispatcher reads them. */
public final class JobReport {
    /** Text accumulator: the {@link io.millrace.train.spec.TrainResult}, once there is one. */
    public static final String RESULT = "result";
    /** Text accumulator and gauge: what the job does now, such as {@code training}. */
    public static final String PHASE = "phase";
    /** Text accumulator: {@code [[round, train, validation], ..]} of the watched metric. */
    public static final String LEARNING_CURVE = "learning-curve";

    public static final String ROWS_EXPORTED = "rows-exported";
    public static final String TRAIN_ROWS = "train-rows";
    public static final String VALIDATION_ROWS = "validation-rows";
    public static final String TEST_ROWS = "test-rows";
    public static final String UNLABELLED_ROWS = "unlabelled-rows";
    public static final String MATRIX_BYTES = "matrix-bytes";
    public static final String ROUND = "round";
    public static final String PEAK_ANONYMOUS_BYTES = "peak-anonymous-bytes";
    /** Gauge: the watched metric on the rows trained on. */
    public static final String TRAIN_METRIC = "train-metric";
    /** Gauge: the watched metric on the validation rows. */
    public static final String VALIDATION_METRIC = "validation-metric";

    private JobReport() {}
}
