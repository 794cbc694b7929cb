package io.millrace.gateway.http;

import io.millrace.gateway.core.Connector;
import io.millrace.gateway.core.Pipeline;
import io.millrace.gateway.model.ModelCache;
import java.io.IOException;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves the Open Inference Protocol over HTTP/1.1. Threads: a pool of its own. */
public final class HttpConnector implements Connector {
    private static final Logger log = LoggerFactory.getLogger(HttpConnector.class);
    private static final int THREADS_MAX = 12;
    private static final int THREADS_MIN = 4;

    /** How long answers that are ready may take to leave, when the gateway ends. */
    private static final long LEAVE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Capacity capacity;
    private final CatalogWatch catalogs;
    private final OpenInferenceHandler handler;
    private final Server server;
    private final ServerConnector connector;

    /**
     * A connector that listens, and answers nothing until {@link #start}.
     *
     * @param version of the gateway
     * @throws IOException if the address cannot be bound
     * @throws io.millrace.contract.ContractException {@link io.millrace.contract.ErrorCode#INVALID_CONFIG} if the token
     *     cannot be read
     */
    public HttpConnector(HttpConfig config, Pipeline pipeline, ModelCache models, String version) throws IOException {
        this(config, pipeline, models, new CatalogDatabase(config.database()), version);
    }

    HttpConnector(HttpConfig config, Pipeline pipeline, ModelCache models, CatalogSource source, String version)
            throws IOException {
        this.capacity = new Capacity(config.concurrentMax(), config.memoryBytesMax());
        this.catalogs = new CatalogWatch(source, config.refresh());
        this.handler = new OpenInferenceHandler(config, pipeline, models, catalogs, capacity, version);
        QueuedThreadPool threads = new QueuedThreadPool(THREADS_MAX, THREADS_MIN);
        threads.setName("http");
        this.server = new Server(threads);
        this.connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http(config)));
        connector.setHost(config.host());
        connector.setPort(config.port());
        connector.setIdleTimeout(config.idle().toMillis());
        server.addConnector(connector);
        server.addBean(new NetworkConnectionLimit(config.connectionsMax(), connector));
        server.setHandler(handler);
        server.setErrorHandler(new JsonErrors());
        connector.open();
    }

    private static HttpConfiguration http(HttpConfig config) {
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setRequestHeaderSize(config.headerBytesMax());
        // Project names may hold anything, slashes and dots too; paths are compared, never opened.
        http.setUriCompliance(new UriCompliance(
                "project names",
                EnumSet.of(
                        UriCompliance.Violation.AMBIGUOUS_PATH_SEGMENT,
                        UriCompliance.Violation.AMBIGUOUS_PATH_SEPARATOR,
                        UriCompliance.Violation.AMBIGUOUS_PATH_PARAMETER,
                        UriCompliance.Violation.AMBIGUOUS_PATH_ENCODING,
                        UriCompliance.Violation.SUSPICIOUS_PATH_CHARACTERS)));
        return http;
    }

    @Override
    public void start() {
        catalogs.start();
        try {
            server.start();
        } catch (Exception e) {
            throw new IllegalStateException("HTTP server cannot start: reason=" + e, e);
        }
        log.info("HTTP is served: address=http://{}:{}/v2", connector.getHost(), port());
    }

    /** Port it listens on. */
    public int port() {
        return connector.getLocalPort();
    }

    /** Requests that came in and are not answered. */
    public int inFlight() {
        return capacity.requestCount();
    }

    /** Memory that they hold; bytes. */
    public long requestBytes() {
        return capacity.usedBytes();
    }

    /** Open connections. */
    public int connectionCount() {
        return connector.getConnectedEndPoints().size();
    }

    @Override
    public void drain() {
        handler.drain();
    }

    @Override
    public void close() {
        long end = System.nanoTime() + LEAVE_NANOS;
        while (capacity.requestCount() > 0 && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
        try {
            server.stop();
        } catch (Exception e) {
            log.warn("HTTP server does not stop in order", e);
        }
        catalogs.close();
    }
}
