package io.millrace.gateway.profile;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** What a request is answered with: all that is left to do is to send it. Threads: one. */
final class Answer implements AutoCloseable {
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String HTML = "text/html; charset=utf-8";
    private static final String JFR = "application/octet-stream";

    /** The page runs its own script and asks nobody for anything. */
    private static final String CONTENT_POLICY =
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'";

    /** {@link HttpExchange#sendResponseHeaders}: the length shows when all is sent. */
    private static final long UNKNOWN_LENGTH = 0;

    private static final long NO_BODY = -1;

    private final String type;
    private final long length;
    private final Body body;
    private final InputStream source;

    private interface Body {
        void write(OutputStream out) throws IOException;
    }

    private Answer(String type, long length, Body body, InputStream source) {
        this.type = type;
        this.length = length;
        this.body = body;
        this.source = source;
    }

    private static Answer of(String type, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return new Answer(type, bytes.length, out -> out.write(bytes), InputStream.nullInputStream());
    }

    static Answer sentence(String text) {
        return of(TEXT, text + "\n");
    }

    static Answer page(String html) {
        return of(HTML, html);
    }

    static Answer folded(FlameTree tree) {
        return new Answer(TEXT, UNKNOWN_LENGTH, out -> FoldedStacks.write(tree, out), InputStream.nullInputStream());
    }

    /** A recording, which is closed with the answer. */
    static Answer recording(InputStream in, long length) {
        return new Answer(JFR, length, in::transferTo, in);
    }

    void send(HttpExchange exchange, int status) throws IOException {
        Headers headers = exchange.getResponseHeaders();
        headers.set("Content-Type", type);
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set("Content-Security-Policy", CONTENT_POLICY);
        headers.set("Cache-Control", "no-store");
        if (type.equals(JFR)) {
            headers.set(
                    "Content-Disposition",
                    "attachment; filename=\"millrace-gateway-"
                            + ProcessHandle.current().pid() + ".jfr\"");
        }
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(status, NO_BODY);
            return;
        }
        exchange.sendResponseHeaders(status, length);
        try (OutputStream out = exchange.getResponseBody()) {
            body.write(out);
        }
    }

    @Override
    public void close() throws IOException {
        source.close();
    }
}
