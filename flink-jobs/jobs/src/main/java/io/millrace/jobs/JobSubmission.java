package io.millrace.jobs;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A job to start. The caller chooses its id: a submission whose answer was lost is then found again, and a second one with
 * the same id is refused by the cluster instead of running twice.
 *
 * @param jobId 32 lower-case hexadecimal digits
 * @param mainClass entry class inside the jar
 * @param arguments the entry class's arguments
 * @param restorePath savepoint or checkpoint to start from
 * @param allowNonRestoredState whether state of operators that no longer exist may be dropped
 * @param parallelism default parallelism, at least 1
 * @param configuration Flink options for this job alone
 */
public record JobSubmission(
        String jobId,
        String mainClass,
        List<String> arguments,
        Optional<String> restorePath,
        boolean allowNonRestoredState,
        int parallelism,
        Map<String, String> configuration) {

    private static final Pattern JOB_ID = Pattern.compile("[0-9a-f]{32}");

    public JobSubmission {
        if (!JOB_ID.matcher(jobId).matches()) {
            throw new IllegalArgumentException("job id must be 32 lower-case hexadecimal digits: jobId=" + jobId);
        }
        if (parallelism < 1) {
            throw new IllegalArgumentException("parallelism must be at least 1: parallelism=" + parallelism);
        }
        arguments = List.copyOf(arguments);
        configuration = Map.copyOf(configuration);
    }

    /** A fresh start with parallelism 1. */
    public static JobSubmission of(String jobId, String mainClass, List<String> arguments) {
        return new JobSubmission(jobId, mainClass, arguments, Optional.empty(), false, 1, Map.of());
    }

    /** The same job, started from a savepoint or checkpoint; state of vanished operators is dropped. */
    public JobSubmission restoredFrom(String path) {
        return new JobSubmission(jobId, mainClass, arguments, Optional.of(path), true, parallelism, configuration);
    }

    /** The same job with another default parallelism. */
    public JobSubmission withParallelism(int value) {
        return new JobSubmission(jobId, mainClass, arguments, restorePath, allowNonRestoredState, value, configuration);
    }

    /** The same job with Flink options of its own. */
    public JobSubmission withConfiguration(Map<String, String> options) {
        return new JobSubmission(jobId, mainClass, arguments, restorePath, allowNonRestoredState, parallelism, options);
    }
}
