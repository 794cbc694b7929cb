package io.millrace.gateway;

import com.sun.net.httpserver.HttpHandler;
import io.prometheus.metrics.exporter.httpserver.HTTPServer;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.net.InetAddress;

/** The operator's port: {@code /metrics} for Prometheus, and the pages about the process. Threads: a pool of its own. */
final class OperatorServer implements AutoCloseable {
    private final HTTPServer server;

    /**
     * Serves at once.
     *
     * @param port 0 takes any free one
     * @param pages answers every other path
     * @throws IOException if the address cannot be bound
     */
    OperatorServer(String host, int port, PrometheusRegistry registry, HttpHandler pages) throws IOException {
        server = HTTPServer.builder()
                .inetAddress(InetAddress.getByName(host))
                .port(port)
                .registry(registry)
                .defaultHandler(pages)
                .buildAndStart();
    }

    /** Port it listens on. */
    int port() {
        return server.getPort();
    }

    @Override
    public void close() {
        server.close();
    }
}
