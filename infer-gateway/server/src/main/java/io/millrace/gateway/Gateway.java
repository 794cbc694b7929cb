package io.millrace.gateway;

import io.millrace.contract.JsonText;
import io.millrace.contract.layout.RequestKind;
import io.millrace.contract.layout.SlotState;
import io.millrace.engine.Engines;
import io.millrace.gateway.core.Journal;
import io.millrace.gateway.core.Pipeline;
import io.millrace.gateway.http.HttpConfig;
import io.millrace.gateway.http.HttpConnector;
import io.millrace.gateway.memory.SharedMemoryConnector;
import io.millrace.gateway.metrics.GatewayMetrics;
import io.millrace.gateway.model.ModelCache;
import io.millrace.gateway.model.PackageImporter;
import io.millrace.gateway.model.PackageLoader;
import io.millrace.gateway.profile.ProfileHandler;
import io.millrace.gateway.trace.SpanExport;
import io.millrace.gateway.trace.TraceConfig;
import io.millrace.region.Region;
import io.millrace.store.ModelStore;
import io.millrace.store.StoreConfig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The running gateway: region, pipeline, models, metrics, in the order in which they are started and, reversed, stopped.
 */
public final class Gateway implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Gateway.class);

    private final GatewayConfig config;
    private final GatewayMetrics metrics;
    private final ModelStore store;
    private final RegistryResidents residents;
    private final ModelCache models;
    private final PackageImporter importer;
    private final @Nullable SpanExport spans;
    private final Pipeline pipeline;
    private final Region region;
    private final SharedMemoryConnector connector;
    private final @Nullable HttpConnector http;
    private final Heartbeat heartbeat;
    private final ProfileHandler profiles;
    private final OperatorServer operator;

    private Gateway(GatewayConfig config, Region region, ModelStore store) throws IOException {
        this.config = config;
        this.region = region;
        this.store = store;
        this.metrics = new GatewayMetrics();
        long modelBytes =
                ModelCache.budgetBytes(config.cacheBytes(), Runtime.getRuntime().maxMemory());
        this.residents =
                RegistryResidents.open(config.cacheDirectory(), config.region().directory());
        this.models = new ModelCache(
                new PackageLoader(store, config.cacheDirectory(), modelBytes, config.queueRows()),
                modelBytes,
                metrics,
                residents);
        this.importer = new PackageImporter(store, config.cacheDirectory(), config.importDirectory(), modelBytes);
        this.spans = config.trace()
                .map(trace -> new SpanExport(trace, version(), metrics))
                .orElse(null);
        this.pipeline =
                new Pipeline(config.pipeline(), models, importer, metrics, this::report, journal(), System::nanoTime);
        this.connector = new SharedMemoryConnector(region, pipeline, config.spinNanos(), config.payloadBytes());
        register();
        // Seconds that the first load would take otherwise.
        Engines.preload();
        this.profiles = ProfileHandler.start(config.profile(), version());
        this.operator = new OperatorServer(config.metricsHost(), config.metricsPort(), metrics.registry(), profiles);
        this.http = openHttp();
        // Before backends see the gateway: the first request after a restart finds its model.
        models.restore(config.warm());
        connector.start();
        if (http != null) {
            http.start();
        }
        pipeline.failure().thenAccept(connector::abort);
        this.heartbeat = new Heartbeat(region, config.heartbeat(), connector::isAlive, models::recordUse);
        log.info(
                "gateway serves: directory={}, metrics=http://{}:{}/metrics, modelBytes={}, version={}",
                config.region().directory(),
                config.metricsHost(),
                operator.port(),
                modelBytes,
                version());
    }

    /**
     * Starts a gateway.
     *
     * @throws io.millrace.region.RegionException if the region cannot be made
     * @throws IOException if the address of the metrics or of HTTP cannot be bound
     */
    public static Gateway start(GatewayConfig config, StoreConfig storeConfig) throws IOException {
        ModelStore store = new ModelStore(storeConfig);
        Region region = null;
        try {
            region = Region.create(config.region());
            return new Gateway(config, region, store);
        } catch (IOException | RuntimeException e) {
            if (region != null) {
                region.close();
            }
            store.close();
            throw e;
        }
    }

    /** Null when nothing is told of single requests. */
    private @Nullable Journal journal() {
        if (config.slowNanos() == 0 && spans == null) {
            return null;
        }
        double ratio = config.trace().map(TraceConfig::ratio).orElse(0.0);
        return new Journal(config.slowNanos(), spans, ratio, metrics, System::nanoTime);
    }

    private @Nullable HttpConnector openHttp() throws IOException {
        HttpConfig httpConfig = config.http().orElse(null);
        if (httpConfig == null) {
            return null;
        }
        HttpConnector opened = new HttpConnector(httpConfig, pipeline, models, version());
        metrics.gauge("millrace_http_in_flight", "HTTP requests that are not answered yet.", opened::inFlight);
        metrics.gauge("millrace_http_request_bytes", "Memory of the HTTP requests.", opened::requestBytes);
        metrics.gauge("millrace_http_connections", "Open HTTP connections.", opened::connectionCount);
        return opened;
    }

    private void register() {
        metrics.gauge("millrace_in_flight", "Requests that came in and did not end.", pipeline::inFlight);
        metrics.gauge("millrace_pending_rows", "Rows that wait for their model.", pipeline::pendingRows);
        metrics.gauge(
                "millrace_waiting_requests",
                "Requests that wait for a limit or for room in a queue.",
                pipeline::waiting);
        metrics.gauge("millrace_limited_projects", "Projects whose limits are known.", pipeline::tenants);
        metrics.gauge("millrace_models_resident", "Models in memory.", models::residentCount);
        metrics.gauge("millrace_models_bytes", "Memory of the models.", models::residentBytes);
        metrics.secondsGauge("millrace_heartbeat_age_seconds", "Age of the heartbeat.", region::heartbeatAgeNanos);
        metrics.gauge("millrace_connections", "Connected database sessions.", region.doorbell()::connectionCount);
        metrics.gauge(
                "millrace_payload_bytes",
                "Memory of requests and responses that do not fit their slabs.",
                connector::payloadBytes);
        metrics.gauge(
                "millrace_slots_free",
                "Slots of the region that are free; with those in use all there are, 512.",
                () -> region.slots().census().count(SlotState.FREE));
        metrics.gauge(
                "millrace_slots_used",
                "Slots of the region in use.",
                () -> region.slots().census().usedCount());
        metrics.gauge(
                "millrace_slots_reclaimed",
                "Slots taken from dead owners since the start.",
                region.sweeper()::reclaimedCount);
        SpanExport exported = spans;
        metrics.gauge(
                "millrace_traces_waiting",
                "Traced requests that wait for the collector.",
                () -> exported == null ? 0 : exported.waitingCount());
    }

    private String report(RequestKind kind) {
        return kind == RequestKind.METRICS ? metrics.report() : status();
    }

    private String status() {
        byte[] json = JsonText.of(out -> {
            out.writeStartObject();
            out.writeStringField("worker", "gateway");
            out.writeNumberField("pid", ProcessHandle.current().pid());
            out.writeStringField("version", version());
            // Without the request that asks.
            out.writeNumberField("in-flight", Math.max(0, pipeline.inFlight() - 1));
            out.writeNumberField("queue-depth", pipeline.pendingRows());
            out.writeNumberField("models-loaded", models.residentCount());
            out.writeEndObject();
        });
        return new String(json, StandardCharsets.UTF_8);
    }

    private static String version() {
        return Optional.ofNullable(Gateway.class.getPackage().getImplementationVersion())
                .orElse("development");
    }

    /** Port of the metrics and profiles. */
    public int metricsPort() {
        return operator.port();
    }

    /** Port of HTTP; -1 when it is off. */
    public int httpPort() {
        return http == null ? -1 : http.port();
    }

    /** Waits until the gateway can serve no more; null when it was closed, else what ended it. */
    public @Nullable Throwable awaitEnd() throws InterruptedException {
        return connector.awaitEnd();
    }

    /** Refuses new requests, answers those in flight, and ends. */
    @Override
    public void close() {
        log.info("gateway drains: inFlight={}", pipeline.inFlight());
        connector.drain();
        if (http != null) {
            http.drain();
        }
        pipeline.drain();
        importer.close();
        boolean idle = pipeline.awaitIdle(config.drain().toNanos());
        if (!idle) {
            log.warn("requests are abandoned: inFlight={}", pipeline.inFlight());
        }
        heartbeat.close();
        connector.close();
        if (http != null) {
            http.close();
        }
        pipeline.close();
        if (spans != null) {
            spans.close();
        }
        models.close();
        residents.close();
        store.close();
        operator.close();
        profiles.close();
        // Unmapping under a thread that still works on a slot would crash the process.
        if (idle) {
            region.close();
        }
        log.info("gateway ends");
    }
}
