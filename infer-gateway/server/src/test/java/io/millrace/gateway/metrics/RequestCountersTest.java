package io.millrace.gateway.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.RequestKind;
import io.prometheus.metrics.core.metrics.Counter;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class RequestCountersTest {
    private final Counter counter = Counter.builder()
            .name("requests")
            .labelNames("model", "kind", "code")
            .build();
    private final RequestCounters counters = new RequestCounters(counter);

    private Map<String, Double> series() {
        Map<String, Double> series = new TreeMap<>();
        counter.collect()
                .getDataPoints()
                .forEach(point -> series.put(
                        String.join(
                                " ",
                                point.getLabels().get("model"),
                                point.getLabels().get("kind"),
                                point.getLabels().get("code")),
                        point.getValue()));
        return series;
    }

    @Test
    void countsByModelKindAndResult() {
        counters.resident("a/1");
        counters.count("a/1", RequestKind.PREDICT, ErrorCode.OK);
        counters.count("a/1", RequestKind.PREDICT, ErrorCode.OK);
        counters.count("a/1", RequestKind.PROBA, ErrorCode.WRONG_TASK);
        counters.count("", RequestKind.STATUS, ErrorCode.OK);
        assertThat(series()).isEqualTo(Map.of("a/1 predict ok", 2.0, "a/1 proba wrong_task", 1.0, " status ok", 1.0));
    }

    @Test
    void theSeriesOfAModelGoWithItAndLateOnesCountForNobody() {
        counters.resident("a/1");
        counters.count("a/1", RequestKind.PREDICT, ErrorCode.OK);
        counters.evicted("a/1");
        assertThat(series()).isEmpty();
        counters.count("a/1", RequestKind.PREDICT, ErrorCode.OK);
        assertThat(series()).isEqualTo(Map.of(" predict ok", 1.0));
        counters.resident("a/1");
        counters.count("a/1", RequestKind.PREDICT, ErrorCode.OK);
        assertThat(series()).isEqualTo(Map.of(" predict ok", 1.0, "a/1 predict ok", 1.0));
    }

    @Test
    void modelsOfOneNameShareTheirSeriesUntilTheLastLeaves() {
        counters.resident("a/1");
        counters.resident("a/1");
        counters.count("a/1", RequestKind.PREDICT, ErrorCode.OK);
        counters.evicted("a/1");
        assertThat(series()).containsEntry("a/1 predict ok", 1.0);
        counters.evicted("a/1");
        assertThat(series()).isEmpty();
        counters.evicted("a/1");
        assertThat(series()).isEmpty();
    }
}
