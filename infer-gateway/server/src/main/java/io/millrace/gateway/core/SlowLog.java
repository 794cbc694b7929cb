package io.millrace.gateway.core;

import io.millrace.gateway.core.EndedRequest.Stages;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One line for each request that was slow, a few a second, so that a slow second is no flood. Threads: any. */
final class SlowLog {
    private static final Logger log = LoggerFactory.getLogger(SlowLog.class);
    private static final double NANOS_PER_MILLI = 1e6;

    private final LogBudget budget;

    SlowLog(LongSupplier clock) {
        this.budget = new LogBudget(clock);
    }

    void add(EndedRequest ended) {
        int suppressed = budget.admit();
        if (suppressed >= 0) {
            log.atWarn().addKeyValue("trace-id", ended.trace().traceId()).log(line(ended, suppressed));
        }
    }

    static String line(EndedRequest ended, int suppressed) {
        Stages stages = ended.stages();
        return "request is slow: kind=" + ended.kind() + ", model=" + ended.model() + ", rows=" + ended.rowCount()
                + ", code=" + ended.code() + stages(stages) + ", totalMillis=" + millis(ended.totalNanos())
                + ", suppressed=" + suppressed;
    }

    private static String stages(@Nullable Stages stages) {
        return stages == null
                ? ""
                : ", batchRows=" + stages.batchRows() + ", queueMillis=" + millis(stages.queueNanos())
                        + ", transformMillis=" + millis(stages.transformNanos())
                        + ", scoreMillis=" + millis(stages.scoreNanos());
    }

    private static String millis(long nanos) {
        return String.format(Locale.ROOT, "%.3f", nanos / NANOS_PER_MILLI);
    }
}
