package io.millrace.train.dispatch;

import io.millrace.train.job.JobReport;
import io.millrace.train.run.RunStatus;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a job's gauges say about a run.
 *
 * @param status where it is
 * @param phase the same in words
 * @param fraction of all its work; {@code 0 <= fraction < 1}
 */
record RunProgress(RunStatus status, String phase, double fraction) {
    /** Gauges that are needed to say so. */
    static final List<String> GAUGES =
            List.of(JobReport.PHASE, JobReport.ROWS_EXPORTED, JobReport.TRAIN_METRIC, JobReport.VALIDATION_METRIC);

    /** The phase of a run that could start if the cluster had a slot for it. */
    static final String WAITING_FOR_SLOT = "waiting for a free Flink slot";

    // Shares of the whole that experience with tables of many sizes suggests; only the order matters.
    private static final double EXPORTED = 0.3;
    private static final double TRAINED = 0.9;
    private static final double EVALUATED = 0.95;

    /**
     * Reads gauges.
     *
     * @param rows rows of the snapshot; 0 if not known
     */
    static RunProgress of(Map<String, String> gauges, long rows) {
        String phase = gauges.getOrDefault(JobReport.PHASE, "");
        String[] parts = phase.strip().split(" ", -1);
        return switch (parts[0]) {
            case JobGauges.SCHEDULED -> new RunProgress(RunStatus.CLAIMED, WAITING_FOR_SLOT, 0);
            case "loading" -> new RunProgress(RunStatus.TRAINING, "loading the matrix", EXPORTED);
            case "training" -> training(parts, gauges);
            case "evaluating" -> new RunProgress(RunStatus.EVALUATING, "evaluating the test rows", TRAINED);
            case "publishing", "done" -> new RunProgress(RunStatus.PUBLISHING, "publishing the model", EVALUATED);
            default -> exporting(gauges, rows);
        };
    }

    private static RunProgress exporting(Map<String, String> gauges, long rows) {
        long exported = (long) number(gauges.get(JobReport.ROWS_EXPORTED));
        if (exported == 0) {
            return new RunProgress(RunStatus.EXPORTING, "choosing test rows", 0.01);
        }
        double share = rows == 0 ? 0.5 : Math.min(1.0, (double) exported / rows);
        return new RunProgress(
                RunStatus.EXPORTING,
                "exported " + exported + (rows == 0 ? "" : " of " + rows) + " rows",
                EXPORTED * share);
    }

    /** The gauge reads {@code training 34/100 logloss}. */
    private static RunProgress training(String[] parts, Map<String, String> gauges) {
        String[] rounds = parts.length > 1 ? parts[1].split("/", -1) : new String[0];
        if (rounds.length != 2) {
            return new RunProgress(RunStatus.TRAINING, "training", EXPORTED);
        }
        double round = number(rounds[0]);
        double of = Math.max(1, number(rounds[1]));
        String metric = parts.length > 2 ? parts[2] : "";
        String phase = "round " + rounds[0] + " of " + rounds[1]
                + value(metric, "train", gauges.get(JobReport.TRAIN_METRIC))
                + value(metric, "validation", gauges.get(JobReport.VALIDATION_METRIC));
        double fraction = EXPORTED + (TRAINED - EXPORTED) * round / of;
        return new RunProgress(RunStatus.TRAINING, phase, Math.min(TRAINED, fraction));
    }

    private static String value(String metric, String part, @Nullable String gauge) {
        double value = number(gauge);
        return metric.isEmpty() || gauge == null || !Double.isFinite(value)
                ? ""
                : String.format(Locale.ROOT, ", %s %s %.5f", part, metric, value);
    }

    private static double number(@Nullable String text) {
        if (text == null) {
            return 0;
        }
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
