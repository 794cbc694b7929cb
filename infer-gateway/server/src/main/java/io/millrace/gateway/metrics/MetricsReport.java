package io.millrace.gateway.metrics;

import com.fasterxml.jackson.core.JsonGenerator;
import io.millrace.contract.JsonText;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Label;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Quantile;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Metrics as a JSON list of samples, named as Prometheus' text has them: {@code {"name": .., "labels": {..}, "value":
 * number}}. What is no number in JSON is a text, {@code NaN} or {@code Infinity}.
 */
final class MetricsReport {
    private final JsonGenerator out;

    private MetricsReport(JsonGenerator out) {
        this.out = out;
    }

    /** All samples of some metrics. */
    static String json(MetricSnapshots metrics) {
        byte[] document = JsonText.of(out -> {
            MetricsReport report = new MetricsReport(out);
            out.writeStartArray();
            for (MetricSnapshot metric : metrics) {
                report.write(metric, metric.getMetadata().getPrometheusName());
            }
            out.writeEndArray();
        });
        return new String(document, StandardCharsets.UTF_8);
    }

    /** State sets and metrics of unknown kind are left out: the gateway has none. */
    private void write(MetricSnapshot metric, String name) throws IOException {
        if (metric instanceof CounterSnapshot counter) {
            for (var point : counter.getDataPoints()) {
                write(name + "_total", point.getLabels(), point.getValue());
            }
        } else if (metric instanceof GaugeSnapshot gauge) {
            for (var point : gauge.getDataPoints()) {
                write(name, point.getLabels(), point.getValue());
            }
        } else if (metric instanceof InfoSnapshot info) {
            for (var point : info.getDataPoints()) {
                write(name + "_info", point.getLabels(), 1);
            }
        } else if (metric instanceof HistogramSnapshot histogram) {
            for (var point : histogram.getDataPoints()) {
                writeBuckets(name, point);
                writeTotals(name, point.getLabels(), point.getCount(), point.getSum());
            }
        } else if (metric instanceof SummarySnapshot summary) {
            for (var point : summary.getDataPoints()) {
                for (Quantile quantile : point.getQuantiles()) {
                    Labels labels = point.getLabels().add("quantile", number(quantile.getQuantile()));
                    write(name, labels, quantile.getValue());
                }
                writeTotals(name, point.getLabels(), point.getCount(), point.getSum());
            }
        }
    }

    private void writeBuckets(String name, HistogramDataPointSnapshot point) throws IOException {
        ClassicHistogramBuckets buckets = point.getClassicBuckets();
        double count = 0;
        for (int index = 0; index < buckets.size(); index++) {
            count += (double) buckets.getCount(index);
            write(name + "_bucket", point.getLabels().add("le", number(buckets.getUpperBound(index))), count);
        }
    }

    private void writeTotals(String name, Labels labels, long count, double sum) throws IOException {
        write(name + "_count", labels, (double) count);
        write(name + "_sum", labels, sum);
    }

    private static String number(double value) {
        return value == Double.POSITIVE_INFINITY ? "+Inf" : Double.toString(value);
    }

    private void write(String name, Labels labels, double value) throws IOException {
        out.writeStartObject();
        out.writeStringField("name", name);
        out.writeObjectFieldStart("labels");
        for (Label label : labels) {
            out.writeStringField(label.getName(), label.getValue());
        }
        out.writeEndObject();
        out.writeFieldName("value");
        if (Double.isFinite(value)) {
            out.writeNumber(value);
        } else {
            out.writeString(Double.toString(value));
        }
        out.writeEndObject();
    }
}
