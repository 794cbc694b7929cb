package io.millrace.gateway.profile;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import io.millrace.gateway.http.LocalHost;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Names of classes, threads and files are nobody's business but the operator's. The port may be open to a Prometheus
 * elsewhere; the profiles still answer only whoever is on this machine. A web page that a browser on this machine shows is
 * not: it is told by its Origin, or, when it had its own name resolved to this machine, by the Host its browser sends.
 */
/** Answers {@code /debug/profile/..}, one profile at a time. Threads: any. */
public final class ProfileHandler implements HttpHandler, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ProfileHandler.class);
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String HTML = "text/html; charset=utf-8";
    private static final String JFR = "application/octet-stream";

    /** The page runs its own script and asks nobody for anything. */
    private static final String CONTENT_POLICY =
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'";

    private final @Nullable Profiles profiles;
    private final String reason;
    private final Semaphore turn = new Semaphore(1);

    private ProfileHandler(@Nullable Profiles profiles, String reason) {
        this.profiles = profiles;
        this.reason = reason;
    }

    /**
     * Begins to record, if that is configured. A gateway that cannot be profiled serves all the same, so then each profile
     * is answered with the reason.
     *
     * @param version of the gateway
     */
    public static ProfileHandler start(ProfileConfig config, String version) {
        if (!config.enabled()) {
            return new ProfileHandler(null, "profiling is off: file=gateway.properties, key=profiling, value=false");
        }
        try {
            return new ProfileHandler(Profiles.start(config, version), "");
        } catch (IOException | RuntimeException e) {
            log.warn("gateway runs without profiles: directory={}", config.directory(), e);
            return new ProfileHandler(null, "profiling did not start: reason=" + e.getMessage());
        }
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            try {
                checkCaller(exchange);
                checkMethod(exchange);
                answer(exchange);
            } catch (ProfileException e) {
                if (e.getCause() != null) {
                    log.warn("profile cannot be made", e);
                }
                send(exchange, e.status(), TEXT, bytes(e.getMessage() + "\n"));
            }
        }
    }

    private static void checkCaller(HttpExchange exchange) {
        if (!exchange.getRemoteAddress().getAddress().isLoopbackAddress()) {
            throw new ProfileException(
                    ProfileException.FORBIDDEN, "profiles are answered on the gateway's own machine only");
        }
        String host = exchange.getRequestHeaders().getFirst("Host");
        if (exchange.getRequestHeaders().containsKey("Origin") || (host != null && !LocalHost.isNamedBy(host))) {
            throw new ProfileException(
                    ProfileException.FORBIDDEN,
                    "host must name this machine, and no other web page may ask: header=Host");
        }
    }

    private static void checkMethod(HttpExchange exchange) {
        String method = exchange.getRequestMethod();
        if (!method.equals("GET") && !method.equals("HEAD")) {
            exchange.getResponseHeaders().set("Allow", "GET, HEAD");
            throw new ProfileException(
                    ProfileException.METHOD_NOT_ALLOWED, "method must be GET or HEAD: method=" + method);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        ProfileQuery query = ProfileQuery.of(
                exchange.getRequestURI().getPath(), exchange.getRequestURI().getRawQuery());
        if (profiles == null) {
            throw new ProfileException(ProfileException.UNAVAILABLE, reason);
        }
        if (!turn.tryAcquire()) {
            exchange.getResponseHeaders().set("Retry-After", "1");
            throw new ProfileException(
                    ProfileException.UNAVAILABLE, "another profile is being made: one at a time, try again");
        }
        try {
            answer(exchange, query, profiles);
        } finally {
            turn.release();
        }
    }

    private static void answer(HttpExchange exchange, ProfileQuery query, Profiles profiles) throws IOException {
        if (query.format() == ProfileQuery.Format.JFR) {
            sendRecording(exchange, query, profiles);
            return;
        }
        Profiles.Profile profile;
        try {
            profile = profiles.profile(query);
        } catch (IOException | RuntimeException e) {
            throw failed(e);
        }
        if (query.format() == ProfileQuery.Format.COLLAPSED) {
            send(exchange, 200, TEXT, bytes(FoldedStacks.of(profile.tree())));
        } else {
            send(exchange, 200, HTML, bytes(FlamePage.of(profile.tree(), profile.unit(), profile.text())));
        }
    }

    private static void sendRecording(HttpExchange exchange, ProfileQuery query, Profiles profiles) throws IOException {
        Path file;
        try {
            file = profiles.recording(query.seconds());
        } catch (IOException | RuntimeException e) {
            throw failed(e);
        }
        try {
            exchange.getResponseHeaders().set("Content-Type", JFR);
            exchange.getResponseHeaders()
                    .set(
                            "Content-Disposition",
                            "attachment; filename=\"millrace-gateway-"
                                    + ProcessHandle.current().pid() + ".jfr\"");
            boolean head = exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(200, head ? -1 : Files.size(file));
            if (!head) {
                Files.copy(file, exchange.getResponseBody());
            }
        } finally {
            Files.delete(file);
        }
    }

    private static ProfileException failed(Exception e) {
        return e instanceof ProfileException known
                ? known
                : new ProfileException(ProfileException.INTERNAL, "profile cannot be made: reason=" + e, e);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void send(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.getResponseHeaders().set("Content-Security-Policy", CONTENT_POLICY);
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        boolean head = exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(status, head ? -1 : body.length);
        if (!head) {
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
            }
        }
    }

    /** Ends the recording. */
    @Override
    public void close() {
        if (profiles != null) {
            profiles.close();
        }
    }
}
