package io.millrace.train.dispatch;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;

/**
 * A cluster seen over a line that breaks: it answers until a job is submitted, the submission arrives, and from then on no
 * answer comes back until {@link #answer}.
 */
final class SilentFlink extends FlinkProxy {
    private volatile boolean submitted;
    private volatile boolean answering;

    SilentFlink(URI cluster) throws IOException {
        super(cluster);
    }

    /** The line is whole again. */
    void answer() {
        answering = true;
    }

    @Override
    void handle(HttpExchange exchange) throws IOException {
        boolean submission = exchange.getRequestURI().getPath().endsWith("/run");
        if (submission) {
            submitted = true;
        }
        if (!submitted || answering) {
            HttpResponse<byte[]> response = forward(exchange);
            answer(exchange, response.statusCode(), response.body());
        } else if (submission) {
            forward(exchange);
        }
    }
}
