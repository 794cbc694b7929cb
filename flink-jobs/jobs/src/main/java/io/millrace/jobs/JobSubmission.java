package io.millrace.jobs;

import java.util.List;
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
 */
public record JobSubmission(
        String jobId,
        String mainClass,
        List<String> arguments,
        Optional<String> restorePath,
        boolean allowNonRestoredState) {

    private static final Pattern JOB_ID = Pattern.compile("[0-9a-f]{32}");

    public JobSubmission {
        if (!JOB_ID.matcher(jobId).matches()) {
            throw new IllegalArgumentException("job id must be 32 lower-case hexadecimal digits: jobId=" + jobId);
        }
        arguments = List.copyOf(arguments);
    }

    /** A fresh start. */
    public static JobSubmission of(String jobId, String mainClass, List<String> arguments) {
        return new JobSubmission(jobId, mainClass, arguments, Optional.empty(), false);
    }

    /** The same job, started from a savepoint or checkpoint; state of vanished operators is dropped. */
    public JobSubmission restoredFrom(String path) {
        return new JobSubmission(jobId, mainClass, arguments, Optional.of(path), true);
    }
}
