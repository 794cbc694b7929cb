package io.millrace.gateway.metrics;

import static java.util.Objects.requireNonNull;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.RequestKind;
import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/*
 * Models come and go, so the series of a model live as long as it is in memory. A request may end after its model left:
 * then it counts where requests of no model do, or its series would come back and stay.
 *
 * A label combination is looked up once and kept, since this counter changes with every request.
 */
/** Requests by model, kind and result. Threads: any. */
final class RequestCounters {
    private final Counter counter;
    private final Map<String, Series> models = new ConcurrentHashMap<>();
    private final Series others = new Series("");

    RequestCounters(Counter counter) {
        this.counter = counter;
    }

    /** The series of one model. */
    private final class Series {
        private final String model;
        private final Map<RequestKind, Map<ErrorCode, CounterDataPoint>> points = new EnumMap<>(RequestKind.class);

        /** Models of that name in memory; changed by the map alone. */
        private int residentCount = 1;

        private boolean closed;

        Series(String model) {
            this.model = model;
            for (RequestKind kind : RequestKind.values()) {
                points.put(kind, new ConcurrentHashMap<>());
            }
        }

        CounterDataPoint point(RequestKind kind, ErrorCode code) {
            CounterDataPoint known = ofKind(kind).get(code);
            return known == null ? newPoint(kind, code) : known;
        }

        private Map<ErrorCode, CounterDataPoint> ofKind(RequestKind kind) {
            return requireNonNull(points.get(kind));
        }

        private CounterDataPoint newPoint(RequestKind kind, ErrorCode code) {
            synchronized (this) {
                if (!closed) {
                    return ofKind(kind)
                            .computeIfAbsent(
                                    code,
                                    unseen -> counter.labelValues(
                                            model, GatewayMetrics.label(kind), GatewayMetrics.label(code)));
                }
            }
            return others.point(kind, code);
        }

        synchronized void close() {
            closed = true;
            points.forEach((kind, codes) -> codes.keySet()
                    .forEach(code -> counter.remove(model, GatewayMetrics.label(kind), GatewayMetrics.label(code))));
        }
    }

    /** A request ended. */
    void count(String model, RequestKind kind, ErrorCode code) {
        models.getOrDefault(model, others).point(kind, code).inc();
    }

    /** A model comes into memory; before it answers anything. */
    void resident(String model) {
        models.compute(model, (name, present) -> {
            if (present == null) {
                return new Series(name);
            }
            present.residentCount++;
            return present;
        });
    }

    /** A model left memory. */
    void evicted(String model) {
        models.computeIfPresent(model, (name, present) -> {
            present.residentCount--;
            if (present.residentCount > 0) {
                return present;
            }
            present.close();
            return null;
        });
    }
}
